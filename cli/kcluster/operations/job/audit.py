"""`job audit`: whether each record that a job read is exactly one row or dead letter."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcluster.clients import processes
from kcluster.clients.spark import connector, runtime, submit_command
from kcluster.errors import ExitCode, RefusedError, SparkError
from kcluster.jobs import registry
from kcluster.jobs.following import cause_in_log
from kcluster.jobs.registry import Job
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone, counted

_POLL = 0.05
_NO_EXECUTOR, _REPORTS = "Initial job has not accepted any resources", 3
"""Spark's warning without an executor, every 15 s, and after how many of them the audit gives up."""


@dataclass(frozen=True)
class JobAudit(Result):
    """The audit of one job."""

    name: str
    result: Mapping[str, Any]

    @property
    def exit_code(self) -> ExitCode:
        """NO when records are missing or duplicated."""
        return ExitCode.DONE if self.result["ok"] else ExitCode.NO

    def data(self) -> Any:
        """The name and the content of audit.json."""
        return {"name": self.name, **self.result}

    def view(self) -> Iterable[Block]:
        """A row for each partition, then the result."""
        parts = self.result["partitions"]
        columns = ("TOPIC", "PARTITION", "FROM", "TO", "READ", "ROWS", "DEAD", "MISSING", "DUPLICATES")
        yield Grid(columns, [_row(part) for part in parts])
        read, rows, dead = (sum(part[what] for part in parts) for what in ("read", "rows", "dead"))
        sums = f"{counted(read, 'record')} read, {counted(rows, 'row')}, {counted(dead, 'dead letter')}"
        if expired := self.result.get("expired"):  # missing in older files
            sums += f", {counted(expired, 'expired dead letter')}"
        if self.result["ok"]:
            yield Cell(f"audit of {self.name} passed: {sums}, 0 missing, 0 duplicates", Tone.GOOD)
        else:
            yield Cell(f"audit of {self.name} failed: {sums}: {self.result.get('cause') or 'sums differ'}", Tone.BAD)


def audit(name: str, progress: Progress) -> JobAudit:
    """Run the audit of a job with the master and brokers of its submit; blocks; SparkError when it cannot finish."""
    job = registry.pick(name)
    if not job.record.sink:
        raise RefusedError(f"{job.name} has no sink to audit", resolution="only ingest jobs can be audited")
    if not any(job.folder.glob("job.json")):
        raise RefusedError(f"{job.folder}/job.json is missing", resolution=f"submit {job.record.job} again")
    answer = job.folder / "audit.json"
    answer.unlink(missing_ok=True)
    progress(f"auditing {job.name}: counting rows and dead letters")
    log = _run(job, progress)
    result = json.loads(answer.read_text()) if answer.exists() else {"advice": "", "cause": cause_in_log(log)}
    if "advice" in result:  # the audit itself failed
        raise SparkError(
            f"the audit of {job.name} failed: {result['cause']}",
            details=f"log: {log}",
            resolution=result["advice"] or f"see the log: {log}",
        )
    return JobAudit(job.name, result)


def _run(job: Job, progress: Progress) -> Path:
    """Run the audit as a process to its end; returns its log."""
    record, spark, log = job.record, runtime.require(), job.folder / "audit.log"
    settings = json.loads((job.folder / "job.json").read_text())
    jars = [*connector.kafka_jars(progress), *connector.extra_jars(progress, settings)]
    run = submit_command.spark_command(spark, jars, record.master, job.folder, record.bootstrap)
    mark = f"{job.folder}/audit"
    environment = {**os.environ, **run.environment, registry.ENVIRONMENT_MARK: mark}
    command = run.with_options("--audit").command
    process = processes.start(command, environment=environment, directory=job.folder, output=log)
    try:
        while processes.alive(process):
            require_executor(job, log)
            time.sleep(_POLL)
    finally:
        for process_left in processes.session(process, f"{registry.ENVIRONMENT_MARK}={mark}"):
            processes.end(process_left)
    return log


def require_executor(job: Job, log: Path) -> None:
    """Raise SparkError when Spark has reported several times that it has no executor."""
    if log.exists() and log.read_text(errors="replace").count(_NO_EXECUTOR) >= _REPORTS:
        raise SparkError(
            f"{job.record.master} has no executor for the audit of {job.name}",
            details=f"log: {log}",
            resolution="stop a job or wait until one has ended: the audit needs as many resources as its job",
        )


def _row(part: Mapping[str, Any]) -> list[str | Cell]:
    numbers = [f"{part[what]:,}" for what in ("from", "to", "read", "rows", "dead")]
    missing = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in part["missing"])
    twice = ", ".join(map(str, part["duplicates"]))
    return [part["topic"], str(part["partition"]), *numbers, Cell(missing, Tone.BAD), Cell(twice, Tone.BAD)]
