"""A snapshot of a submitted job: its state, its last batch, and why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kcluster.jobs.registry import Job, JobState
from kcluster.results import Cell, Tone, counted

_TONES = {
    JobState.RUNNING: Tone.GOOD,
    JobState.FINISHED: Tone.GOOD,
    JobState.FAILED: Tone.BAD,
    JobState.DIED: Tone.BAD,
    JobState.STOPPING: Tone.WARN,
}


@dataclass(frozen=True)
class JobView:
    """A snapshot of one job."""

    job: Job
    state: JobState
    reported: Mapping[str, Any]
    batch: Mapping[str, Any] | None

    @classmethod
    def of(cls, job: Job) -> JobView:
        """The job's snapshot now."""
        return cls(job, job.state, job.reported, job.last_batch())

    @property
    def cause(self) -> str:
        """Why it failed or died; empty otherwise."""
        if self.state is JobState.DIED:
            return f"process {self.job.record.process.pid} is gone without a final state"
        return str(self.reported.get("cause", "")) if self.state is JobState.FAILED else ""

    @property
    def advice(self) -> str:
        """What to do after a failure; empty otherwise."""
        if self.state is JobState.DIED:
            return f"see kcluster job logs {self.job.name}; {self._again}"
        return str(self.reported.get("advice", "")) if self.state is JobState.FAILED else ""

    @property
    def _again(self) -> str:
        job = self.job.record
        if job.job == "dashboard":
            return f"kcluster job dashboard {job.name.removesuffix('-dashboard')} --detach starts it again"
        return f"kcluster job submit {job.job} ... continues from its checkpoint"

    def data(self) -> dict[str, Any]:
        """Record, state and last batch."""
        record = asdict(self.job.record)
        more = {"state": self.state, "since": self.reported.get("at"), "web": self.reported.get("web")}
        ended = {"cause": self.cause, "advice": self.advice}
        places = {"folder": str(self.job.folder), "log": str(self.job.log)}
        return {**record, **more, **ended, **places, "batch": self.batch}

    def cell(self) -> Cell:
        """The state in its colour."""
        return Cell(self.state, _TONES.get(self.state, Tone.PLAIN))


def batch_line(batch: Mapping[str, Any]) -> str:
    """One batch in one line."""
    rate = f" ({batch['rate']:,.0f}/s)" if batch.get("rate") else ""
    parts = [f"batch {batch['batch']}: {counted(batch['records'], 'record')} in {batch['seconds']:.1f} s{rate}"]
    parts += [f"lag {batch['lag']:,}"] if "lag" in batch else []
    parts += [counted(batch["dead"], "dead letter")] if batch.get("dead") else []
    return ", ".join(parts)
