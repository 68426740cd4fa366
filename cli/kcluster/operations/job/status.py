"""`job list` and `job status`: from files alone, so that they answer at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.jobs import job_file
from kcluster.jobs.job_view import JobView, batch_line
from kcluster.jobs.registry import ENDED, JobState
from kcluster.results import Block, Cell, Grid, Result, Tone


@dataclass(frozen=True)
class JobList(Result):
    """The jobs there are to run, and those that were submitted on this machine."""

    known: Mapping[str, str]
    seen: Sequence[JobView]

    def data(self) -> Any:
        """Both, for machines."""
        return {"jobs": dict(self.known), "submitted": [each.data() for each in self.seen]}

    def view(self) -> Iterable[Block]:
        """Two tables."""
        if self.known:
            yield Grid(("JOB", "WHAT IT DOES"), [list(pair) for pair in self.known.items()])
            yield ""
        if not self.seen:
            yield "no job was submitted on this machine: kcluster job submit --help"
        columns = ("NAME", "JOB", "STATE", "CLUSTER", "MASTER", "LAST BATCH", "RATE", "LAG", "DEAD")
        yield Grid(columns, [_row(each) for each in self.seen])


@dataclass(frozen=True)
class JobStatus(Result):
    """One job in all detail."""

    seen: JobView

    def data(self) -> Any:
        """All of it."""
        return self.seen.data()

    def view(self) -> Iterable[Block]:
        """A line for each fact; what went wrong last, where the eye ends."""
        seen, record = self.seen, self.seen.job.record
        yield Cell(f"{record.name}: {seen.state}{_for(seen)}", seen.cell().tone)
        facts = {
            "job": record.job,
            "cluster": f"{record.cluster} at {record.bootstrap}",
            "topics": ", ".join(record.topics),
            "master": record.master,
            "process": str(record.process.pid) if seen.job.alive else "",
            "web": seen.told.get("web") if seen.state not in ENDED else "",
            "last batch": batch_line(seen.batch) if seen.batch else "",
            "sink": record.sink,
            "checkpoint": record.checkpoint,
            "log": str(seen.job.log),
        }
        width = max(map(len, facts))
        yield from (f"  {name:{width}}  {value}" for name, value in facts.items() if value)
        if seen.cause:
            yield Cell(f"  {seen.cause}", Tone.BAD)
        if seen.advice:
            yield f"  try: {seen.advice}"


def listing() -> JobList:
    """The jobs there are, and those of this machine."""
    from kcluster.jobs import registry

    return JobList(job_file.known(), [JobView.of(job) for job in registry.every()])


def status(name: str | None) -> JobList | JobStatus:
    """One job, or all that were submitted on this machine."""
    from kcluster.jobs import registry

    return (
        JobStatus(JobView.of(registry.pick(name)))
        if name
        else JobList({}, [JobView.of(job) for job in registry.every()])
    )


def _row(seen: JobView) -> list[str | Cell]:
    record, batch = seen.job.record, seen.batch or {}
    ago = _ago(time.time() - batch["at"]) if "at" in batch else ""
    numbers = [f"{batch[name]:,.0f}" if name in batch else "" for name in ("rate", "lag", "dead")]
    return [record.name, record.job, seen.cell(), record.cluster, record.master, ago, *numbers]


def _for(seen: JobView) -> str:
    at = seen.told.get("at")
    return f", {_ago(time.time() - at)}" if at and seen.state in ENDED and seen.state is not JobState.DIED else ""


def _ago(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} s ago"
