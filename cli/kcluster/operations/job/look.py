"""`job list` and `job status`: from files alone, so that they answer at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kcluster.jobs import ENDED, Job, State
from kcluster.operations.job import settings
from kcluster.results import Block, Cell, Grid, Result, Tone

_TONES = {
    State.RUNNING: Tone.GOOD,
    State.FINISHED: Tone.GOOD,
    State.FAILED: Tone.BAD,
    State.DIED: Tone.BAD,
    State.STOPPING: Tone.WARN,
}


@dataclass(frozen=True)
class Seen:
    """One job of this machine, as it is now."""

    job: Job
    state: State
    told: Mapping[str, Any]
    batch: Mapping[str, Any] | None

    @classmethod
    def of(cls, job: Job) -> Seen:
        """Look at a job."""
        return cls(job, job.state, job.told, job.last_batch())

    @property
    def cause(self) -> str:
        """Why it ended; empty when it did not end badly."""
        if self.state is State.DIED:
            return f"its process {self.job.record.process.pid} is gone and did not say why"
        return str(self.told.get("cause", "")) if self.state is State.FAILED else ""

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.state is State.DIED:
            return f"kcluster job logs {self.job.name} tells more; {self._again}"
        return str(self.told.get("advice", "")) if self.state is State.FAILED else ""

    @property
    def _again(self) -> str:
        job = self.job.record
        if job.job == "dashboard":
            return f"kcluster job dashboard {job.name.removesuffix('-dashboard')} --detach serves it again"
        return f"kcluster job submit {job.job} ... goes on where it was"

    def data(self) -> dict[str, Any]:
        """All of it, for machines."""
        record = asdict(self.job.record)
        more = {"state": self.state, "since": self.told.get("at"), "web": self.told.get("web")}
        ended = {"cause": self.cause, "advice": self.advice}
        places = {"folder": str(self.job.folder), "log": str(self.job.log)}
        return {**record, **more, **ended, **places, "batch": self.batch}

    def cell(self) -> Cell:
        """The state in its colour."""
        return Cell(self.state, _TONES.get(self.state, Tone.PLAIN))


@dataclass(frozen=True)
class Jobs(Result):
    """The jobs there are to run, and those that were submitted on this machine."""

    known: Mapping[str, str]
    seen: Sequence[Seen]

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
class Status(Result):
    """One job in all detail."""

    seen: Seen

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


def batch_line(batch: Mapping[str, Any]) -> str:
    """One batch in one line."""
    rate = f" ({batch['rate']:,.0f}/s)" if batch.get("rate") else ""
    told = [f"batch {batch['batch']}: {batch['records']:,} records in {batch['seconds']:.1f} s{rate}"]
    told += [f"lag {batch['lag']:,}"] if "lag" in batch else []
    told += [f"{batch['dead']:,} dead letters"] if batch.get("dead") else []
    return ", ".join(told)


def listing() -> Jobs:
    """The jobs there are, and those of this machine."""
    from kcluster import jobs

    return Jobs(settings.known(), [Seen.of(job) for job in jobs.every()])


def status(name: str | None) -> Jobs | Status:
    """One job, or all that were submitted on this machine."""
    from kcluster import jobs

    return Status(Seen.of(jobs.pick(name))) if name else Jobs({}, [Seen.of(job) for job in jobs.every()])


def _row(seen: Seen) -> list[str | Cell]:
    record, batch = seen.job.record, seen.batch or {}
    ago = _ago(time.time() - batch["at"]) if "at" in batch else ""
    numbers = [f"{batch[name]:,.0f}" if name in batch else "" for name in ("rate", "lag", "dead")]
    return [record.name, record.job, seen.cell(), record.cluster, record.master, ago, *numbers]


def _for(seen: Seen) -> str:
    at = seen.told.get("at")
    return f", {_ago(time.time() - at)}" if at and seen.state in ENDED and seen.state is not State.DIED else ""


def _ago(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} s ago"
