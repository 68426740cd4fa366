"""`job list` and `job status`: from files only, so that they answer at once."""

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
    """The known jobs, and those submitted on this machine."""

    known: Mapping[str, str]
    submitted: Sequence[JobView]

    def data(self) -> Any:
        """Known and submitted jobs."""
        return {"jobs": dict(self.known), "submitted": [each.data() for each in self.submitted]}

    def view(self) -> Iterable[Block]:
        """Two tables."""
        if self.known:
            yield Grid(("JOB", "WHAT IT DOES"), [list(pair) for pair in self.known.items()])
            yield ""
        if not self.submitted:
            yield "no job was submitted on this machine; see kcluster job submit --help"
        columns = ("NAME", "JOB", "STATE", "CLUSTER", "MASTER", "LAST BATCH", "RATE", "LAG", "DEAD")
        yield Grid(columns, [_row(each) for each in self.submitted], wide=("JOB", "MASTER"))


@dataclass(frozen=True)
class JobStatus(Result):
    """One job in detail."""

    job_view: JobView

    def data(self) -> Any:
        """Record, state and last batch."""
        return self.job_view.data()

    def view(self) -> Iterable[Block]:
        """A line for each fact; cause and advice last."""
        view, record = self.job_view, self.job_view.job.record
        yield Cell(f"{record.name}: {view.state}{_ended_ago(view)}", view.cell().tone)
        facts = {
            "job": record.job,
            "cluster": f"{record.cluster} at {record.bootstrap}",
            "topics": ", ".join(record.topics),
            "master": record.master,
            "process": str(record.process.pid) if view.job.alive else "",
            "web": view.reported.get("web") if view.state not in ENDED else "",
            "last batch": batch_line(view.batch) if view.batch else "",
            "sink": record.sink,
            "checkpoint": record.checkpoint,
            "log": str(view.job.log),
        }
        width = max(map(len, facts))
        yield from (f"  {name:{width}}  {value}" for name, value in facts.items() if value)
        if view.cause:
            yield Cell(f"  {view.cause}", Tone.BAD)
        if view.advice:
            yield f"  try: {view.advice}"


def list_jobs() -> JobList:
    """The known jobs, and those submitted on this machine."""
    from kcluster.jobs import registry

    return JobList(job_file.known_jobs(), [JobView.of(job) for job in registry.all_jobs()])


def status(name: str | None) -> JobList | JobStatus:
    """One job, or all submitted on this machine; UsageError for an unknown name."""
    from kcluster.jobs import registry

    return (
        JobStatus(JobView.of(registry.pick(name)))
        if name
        else JobList({}, [JobView.of(job) for job in registry.all_jobs()])
    )


def _row(view: JobView) -> list[str | Cell]:
    record, batch = view.job.record, view.batch or {}
    ago = _ago(time.time() - batch["at"]) if "at" in batch else ""
    numbers = [f"{batch[name]:,.0f}" if name in batch else "" for name in ("rate", "lag", "dead")]
    return [record.name, record.job, view.cell(), record.cluster, record.master, ago, *numbers]


def _ended_ago(view: JobView) -> str:
    at = view.reported.get("at")
    return f", {_ago(time.time() - at)}" if at and view.state in ENDED and view.state is not JobState.DIED else ""


def _ago(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} s ago"
