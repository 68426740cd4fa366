"""The schema of job files and how they are read; without Spark, so that a file is checked before Spark starts."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from spark_jobs.settings import avro
from spark_jobs.settings.reading import SettingsFindings, build_settings, nearest

JOBS = {
    "alerts": "Trucks outside their area, standing still or silent, into a topic.",
    "ingest": "Topics to Parquet, Delta or Iceberg tables, each record once.",
    "latest": "The newest position of each truck, in a file for the dashboard.",
    "trucks": "Demo producer: simulated trucks that report their positions.",
}
"""Each job with one sentence; settings are in `spark_jobs.settings.JOB`, the module is named in `run.py`."""


def read(written: Any, job: str = "", beside: Path = Path()) -> tuple[Any, list[str]]:
    """The settings of a parsed job file, and all findings; the settings are valid only without findings.

    `job` is used where the file names none; files that it names are looked up in `beside`.
    """
    if not isinstance(written, dict):
        return None, ["the file must be a mapping of keys to values"]
    job = str(written.get("job", job))
    if job not in JOBS:
        return None, [f"job: {f'unknown job {job}' if job else 'is missing'}{nearest(job, JOBS)}"]
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
    """The settings with checkpoint, dead-letter topic and sink filled in: paths default to the job directory."""
    filled: dict[str, Any] = {}
    if getattr(settings, "checkpoint", None) == "":
        filled["checkpoint"] = str(folder / "checkpoint")
    if getattr(settings, "dead_letters", None) == "":
        filled["dead_letters"] = settings.dead_letter_topic
    sink = getattr(settings, "sink", None)
    if sink and not sink.path:
        filled["sink"] = replace(sink, path=str(folder / "table"))
    return replace(settings, **filled)
