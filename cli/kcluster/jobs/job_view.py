"""A submitted job as it is now: its state, its last batch, and why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kcluster.jobs.registry import Job, JobState
from kcluster.results import Cell, Tone

_TONES = {
    JobState.RUNNING: Tone.GOOD,
    JobState.FINISHED: Tone.GOOD,
    JobState.FAILED: Tone.BAD,
    JobState.DIED: Tone.BAD,
    JobState.STOPPING: Tone.WARN,
}


@dataclass(frozen=True)
class JobView:
    """One job of this machine, as it is now."""

    job: Job
    state: JobState
    told: Mapping[str, Any]
    batch: Mapping[str, Any] | None

    @classmethod
    def of(cls, job: Job) -> JobView:
        """Look at a job."""
        return cls(job, job.state, job.told, job.last_batch())

    @property
    def cause(self) -> str:
        """Why it ended; empty when it did not end badly."""
        if self.state is JobState.DIED:
            return f"its process {self.job.record.process.pid} is gone and did not say why"
        return str(self.told.get("cause", "")) if self.state is JobState.FAILED else ""

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.state is JobState.DIED:
            return f"kcluster job logs {self.job.name} tells more; {self._again}"
        return str(self.told.get("advice", "")) if self.state is JobState.FAILED else ""

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


def batch_line(batch: Mapping[str, Any]) -> str:
    """One batch in one line."""
    rate = f" ({batch['rate']:,.0f}/s)" if batch.get("rate") else ""
    told = [f"batch {batch['batch']}: {batch['records']:,} records in {batch['seconds']:.1f} s{rate}"]
    told += [f"lag {batch['lag']:,}"] if "lag" in batch else []
    told += [f"{batch['dead']:,} dead letters"] if batch.get("dead") else []
    return ", ".join(told)
