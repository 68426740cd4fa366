"""The way in: runs the job that a file describes.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py FILE --bootstrap HOST:PORT [--once] [--folder FOLDER]
spark-submit --jars ... spark_jobs/run.py FILE --bootstrap HOST:PORT --folder FOLDER --audit  # writes audit.json
python spark_jobs/run.py FILE --check        # what is wrong with the file, as JSON; without Spark

Without kcluster what the file leaves open is in FOLDER, ./NAME unless it is said: the checkpoint, and the table.
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
"""The module of each job below `spark_jobs`; imported only when it runs, because not every job needs Spark."""


def main() -> int:
    """Run the job, and write down how it ended."""
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
    """Audit the job; 0 when it balances, 4 when it does not, 1 when nobody could tell."""
    from spark_jobs.ingest import audit

    try:
        return 0 if audit.run(read, arguments.bootstrap, JobDir(arguments.folder)) else 4
    except Exception as problem:  # as in _run
        traceback.print_exc()
        meaning, advice = meaning_and_advice(problem)
        audit.write(arguments.folder, {"ok": False, "partitions": [], "cause": meaning, "advice": advice})
        return 1


def _run(read: Any, arguments: argparse.Namespace) -> int:
    """Run the job; 0 when it ended well, 1 when it failed, 7 when it runs already."""
    try:
        process_lock.lock_folder(arguments.folder, read.name)
    except RefusedJobError as problem:  # what stands in the folder is of the other one
        print(f"{problem}: {problem.advice}", file=sys.stderr)
        return 7
    job_dir = JobDir(arguments.folder)
    job_dir.write_state("starting")
    try:
        process_lock.lock_checkpoint(getattr(read, "checkpoint", ""))  # the demo's producer has none
        state = import_module(f"spark_jobs.{MODULES[read.job]}").run(
            read, arguments.bootstrap, job_dir, once=arguments.once
        )
    except Exception as problem:  # whatever ends a job is told in one line; the whole of it goes to the log
        traceback.print_exc()
        meaning, advice = meaning_and_advice(problem)
        job_dir.write_end("failed", cause=meaning, advice=advice)
        return 1
    job_dir.write_end(state)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--job", default="", help="the job, when the file does not name it")
    parser.add_argument("--bootstrap", default="localhost:9092")
    parser.add_argument("--once", action="store_true", help="read what is there, then end")
    parser.add_argument("--folder", type=Path, help="where the job reports to; one of its name")
    parser.add_argument("--audit", action="store_true", help="only look whether what the job read is all there")
    parser.add_argument("--check", action="store_true", help="only check the file")
    parser.add_argument("--beside", type=Path, help="where files are that the file names; its own folder")
    return parser.parse_args()


def _yaml(file: Path) -> Any:
    import yaml

    return yaml.safe_load(file.read_text())


if __name__ == "__main__":
    sys.exit(main())
