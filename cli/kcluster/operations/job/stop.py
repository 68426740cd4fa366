"""`job stop`: after the batch in hand, or now."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kcluster.errors import RefusedError
from kcluster.jobs import registry
from kcluster.jobs.following import end_now, failure, gone
from kcluster.jobs.job_view import JobView
from kcluster.jobs.registry import ENDED, JobState
from kcluster.results import Block, Cell, Progress, Result, Tone

_LOOK = 0.05


@dataclass(frozen=True)
class StoppedJob(Result):
    """A job that does not run any more."""

    seen: JobView
    ran: bool
    """Whether it ran before."""

    def data(self) -> Any:
        """The job, and whether anything was to do."""
        return {**self.seen.data(), "ran": self.ran}

    def view(self) -> Iterable[Block]:
        """One sentence."""
        name = self.seen.job.name
        yield Cell(f"{name} is stopped" if self.ran else f"{name} does not run: {self.seen.state}", Tone.GOOD)


def stop(name: str, *, now: bool, within: float, progress: Progress) -> StoppedJob:
    """Ask a job to end and wait until it has; `now` ends its processes in the middle of a batch."""
    job = registry.pick(name)
    if not job.alive:
        job.end(within=5.0)  # what may be left of one that was killed
        return StoppedJob(JobView.of(job), ran=False)
    if now:
        if not end_now(job):
            raise RefusedError(f"{job.name} cannot be ended", resolution="see its processes: ps -ef")
        return StoppedJob(JobView.of(job), ran=True)
    job.ask_to_stop()
    progress(f"waiting until {job.name} has done the batch in hand")
    deadline = time.monotonic() + within
    while job.state not in ENDED:
        if time.monotonic() > deadline:
            raise RefusedError(
                f"{job.name} still works on its batch after {within:.0f} s; it ends when that is done",
                resolution=f"wait longer (--timeout), or end it now: kcluster job stop {job.name} --now",
            )
        time.sleep(_LOOK)
    if job.state in (JobState.FAILED, JobState.DIED):
        raise failure(job)
    gone(job)
    return StoppedJob(JobView.of(job), ran=True)
