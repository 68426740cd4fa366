"""Entry point of every job: runs the job that a file describes.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py FILE --bootstrap HOST:PORT [--once] [--folder FOLDER]
spark-submit --jars ... spark_jobs/run.py FILE --bootstrap HOST:PORT --folder FOLDER --audit  # writes audit.json
python spark_jobs/run.py FILE --check        # findings in the file as JSON; without Spark

Without kcluster, checkpoint and table default to folders in FOLDER, which defaults to ./NAME.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

# spark-submit puts this file's folder first on the path; the package is one further up.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from spark_jobs import settings  # noqa: E402
from spark_jobs.runtime import process_lock  # noqa: E402
from spark_jobs.runtime.error_causes import RefusedJobError, meaning_and_advice  # noqa: E402
from spark_jobs.runtime.job_dir import JobDir  # noqa: E402

MODULES = {"ingest": "ingest.job", "latest": "fleet.latest", "alerts": "fleet.alerts", "trucks": "fleet.trucks"}
"""The module of each job below `spark_jobs`; imported on demand, because not every job needs Spark."""


def main() -> int:
    """Run, audit or check a job; returns the exit code: 2 for a file with findings."""
    arguments = _arguments()
    read, findings = settings.read(_yaml(arguments.file), arguments.job, arguments.beside or arguments.file.parent)
    if arguments.check:
        print(json.dumps({"findings": findings, "settings": None if findings else dataclasses.asdict(read)}))
        return 0
    if findings:
        print("\n".join(findings), file=sys.stderr)
        return 2
    arguments.folder = (arguments.folder or Path(read.name)).absolute()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    read = settings.with_default_paths(read, arguments.folder)
    return _audit(read, arguments) if arguments.audit else _run(read, arguments)


def _audit(read: Any, arguments: argparse.Namespace) -> int:
    """Audit the job; 0 when all records are accounted for, 4 when not, 1 when the audit failed."""
    from spark_jobs.ingest import audit

    try:
        return 0 if audit.run(read, arguments.bootstrap, JobDir(arguments.folder)) else 4
    except Exception as problem:  # as in _run
        traceback.print_exc()
        meaning, advice = meaning_and_advice(problem)
        audit.write(arguments.folder, {"ok": False, "partitions": [], "cause": meaning, "advice": advice})
        return 1


def _run(read: Any, arguments: argparse.Namespace) -> int:
    """Run the job; 0 when it finished or was stopped, 1 when it failed, 7 when it is already running."""
    try:
        process_lock.lock_folder(arguments.folder, read.name)
    except RefusedJobError as problem:  # state.json belongs to the running job
        print(f"{problem}: {problem.advice}", file=sys.stderr)
        return 7
    job_dir = JobDir(arguments.folder)
    job_dir.write_state("starting")
    try:
        process_lock.lock_checkpoint(getattr(read, "checkpoint", ""))  # the demo's producer has none
        state = import_module(f"spark_jobs.{MODULES[read.job]}").run(
            read, arguments.bootstrap, job_dir, once=arguments.once
        )
    except Exception as problem:  # every failure becomes one line in state.json; the log has the traceback
        traceback.print_exc()
        meaning, advice = meaning_and_advice(problem)
        job_dir.write_end("failed", cause=meaning, advice=advice)
        return 1
    job_dir.write_end(state)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--job", default="", help="the job, where the file does not name it")
    parser.add_argument("--bootstrap", default="localhost:9092")
    parser.add_argument("--once", action="store_true", help="read all records present at the start, then end")
    parser.add_argument("--folder", type=Path, help="the job directory; default: ./NAME")
    parser.add_argument("--audit", action="store_true", help="only audit what the job has read")
    parser.add_argument("--check", action="store_true", help="only check the file")
    parser.add_argument("--beside", type=Path, help="the folder of files that the file names; default: its own")
    return parser.parse_args()


def _yaml(file: Path) -> Any:
    import yaml

    return yaml.safe_load(file.read_text())


if __name__ == "__main__":
    sys.exit(main())
