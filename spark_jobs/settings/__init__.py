"""What the file of a job may say, and how it is read; without Spark, so that it is checked before Spark starts."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from spark_jobs.settings import avro
from spark_jobs.settings.reading import SettingsFindings, build_settings, nearest

JOBS = {
    "alerts": "Trucks that left their area, stand still or are silent; each incident once, into a topic.",
    "ingest": "Topics to Parquet, Delta or Iceberg, each record once; what does not fit goes to a dead-letter topic.",
    "latest": "The newest position of each truck, kept fresh in a file for the dashboard.",
    "trucks": "The demo's producer: trucks that drive around and tell where they are.",
}
"""Every job and its one sentence; its settings are `spark_jobs.settings.JOB`, its code is named in `run.py`."""


def read(written: Any, job: str = "", beside: Path = Path()) -> tuple[Any, list[str]]:
    """The settings of a job's file, and everything that is wrong with it; the settings count only when nothing is.

    Files that it names are looked for in the folder `beside`.
    """
    if not isinstance(written, dict):
        return None, ["the file must hold keys and values"]
    job = str(written.get("job", job))
    if job not in JOBS:
        return None, [f"job: there is no job {job or '(none named)'}{nearest(job, JOBS)}"]
    findings = SettingsFindings()
    try:
        written = avro.with_inlined_schema(written, beside)
    except (OSError, UnicodeDecodeError) as problem:
        findings.add("format.avro_schema", f"cannot be read: {problem}")
    settings = build_settings(_settings_class(job), {**written, "job": job}, "", findings)
    if settings is not None and not findings and hasattr(settings, "check"):
        findings.extend(settings.check())
    return settings, findings


def _settings_class(job: str) -> Any:
    return getattr(import_module(f"spark_jobs.settings.{job}"), f"{job.title()}Settings")


def with_default_paths(settings: Any, folder: Path) -> Any:
    """The settings with the places that the file leaves open, as kcluster fills them in before: in the job's folder."""
    filled: dict[str, Any] = {}
    if getattr(settings, "checkpoint", None) == "":
        filled["checkpoint"] = str(folder / "checkpoint")
    if getattr(settings, "dead_letters", None) == "":
        filled["dead_letters"] = settings.dead_letter_topic
    sink = getattr(settings, "sink", None)
    if sink and not sink.path:
        filled["sink"] = replace(sink, path=str(folder / "table"))
    return replace(settings, **filled)
