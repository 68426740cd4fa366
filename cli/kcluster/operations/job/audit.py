"""`job audit`: whether each offset that a job read became a row or a dead letter, and none twice."""

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
from kcluster.jobs.following import telling
from kcluster.jobs.registry import Job
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone

_LOOK = 0.05
_STARVED, _PATIENCE = "Initial job has not accepted any resources", 3
"""What Spark writes every 15 s while it has no executor, and how often until we believe it."""


@dataclass(frozen=True)
class Audit(Result):
    """What the job read against what there is of it."""

    name: str
    found: Mapping[str, Any]

    @property
    def exit_code(self) -> ExitCode:
        """NO when the sums differ."""
        return ExitCode.DONE if self.found["ok"] else ExitCode.NO

    def data(self) -> Any:
        """As the job told it."""
        return {"name": self.name, **self.found}

    def view(self) -> Iterable[Block]:
        """A row for each partition, then the verdict."""
        parts = self.found["partitions"]
        columns = ("TOPIC", "PARTITION", "FROM", "TO", "READ", "ROWS", "DEAD", "MISSING", "DUPLICATES")
        yield Grid(columns, [_row(part) for part in parts])
        read, rows, dead = (sum(part[what] for part in parts) for what in ("read", "rows", "dead"))
        sums = f"{read:,} records read, {rows:,} rows, {dead:,} dead letters"
        if expired := self.found.get("expired"):  # an audit of before did not tell
            sums += f" and {expired:,} that their topic no longer keeps"
        if self.found["ok"]:
            yield Cell(f"{self.name}: {sums}: all accounted for, none twice", Tone.GOOD)
        else:
            yield Cell(f"{self.name}: {sums}: {self.found.get('cause') or 'they do not balance'}", Tone.BAD)


def audit(name: str, progress: Progress) -> Audit:
    """Run the audit of a job with the master and the brokers it was submitted with."""
    job = registry.pick(name)
    if not job.record.sink:
        raise RefusedError(f"{job.name} has no sink to audit", resolution="jobs with a sink: ingest")
    if not any(job.folder.glob("job.json")):
        raise RefusedError(f"the settings of {job.name} are gone", resolution=f"submit {job.record.job} again")
    answer = job.folder / "audit.json"
    answer.unlink(missing_ok=True)
    progress(f"counting what {job.name} read and wrote")
    log = _run(job, progress)
    found = json.loads(answer.read_text()) if answer.exists() else {"advice": "", "cause": telling(log)}
    if "advice" in found:  # nobody could tell
        raise SparkError(
            f"the audit of {job.name} failed: {found['cause']}",
            details=f"log: {log}",
            resolution=found["advice"] or f"see the log: {log}",
        )
    return Audit(job.name, found)


def _run(job: Job, progress: Progress) -> Path:
    """Run it to its end; its log."""
    record, spark, log = job.record, runtime.require(), job.folder / "audit.log"
    asked = json.loads((job.folder / "job.json").read_text())
    jars = [*connector.jars(progress), *connector.extra(progress, asked)]
    run = submit_command.submit(spark, jars, record.master, job.folder, record.bootstrap)
    mark = f"{job.folder}/audit"
    environment = {**os.environ, **run.environment, registry.MARK: mark}
    command = run.with_options("--audit").command
    process = processes.start(command, environment=environment, directory=job.folder, output=log)
    try:
        while processes.alive(process):
            fed(job, log)
            time.sleep(_LOOK)
    finally:
        for left in processes.session(process, f"{registry.MARK}={mark}"):
            processes.end(left)
    return log


def fed(job: Job, log: Path) -> None:
    """Give up when Spark said for a while that nobody takes the work: it would say so for ever."""
    if log.exists() and log.read_text(errors="replace").count(_STARVED) >= _PATIENCE:
        raise SparkError(
            f"{job.record.master} has no executor for the audit of {job.name}",
            details=f"log: {log}",
            resolution="stop a job that takes much, or wait until one has ended: the audit takes a share as a job does",
        )


def _row(part: Mapping[str, Any]) -> list[str | Cell]:
    numbers = [f"{part[what]:,}" for what in ("from", "to", "read", "rows", "dead")]
    missing = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in part["missing"])
    twice = ", ".join(map(str, part["duplicates"]))
    return [part["topic"], str(part["partition"]), *numbers, Cell(missing, Tone.BAD), Cell(twice, Tone.BAD)]
