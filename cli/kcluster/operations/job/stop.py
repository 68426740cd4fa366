"""`job stop`: stop a job after its running batch, or now."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kcluster.errors import RefusedError
from kcluster.jobs import registry
from kcluster.jobs.following import end_now, failure, wait_until_gone
from kcluster.jobs.job_view import JobView
from kcluster.jobs.registry import ENDED, JobState
from kcluster.results import Block, Cell, Progress, Result, Tone

_POLL = 0.05


@dataclass(frozen=True)
class StoppedJob(Result):
    """A job that is not running."""

    job_view: JobView
    ran: bool
    """Whether it was running before."""

    def data(self) -> Any:
        """The job, and whether it was running."""
        return {**self.job_view.data(), "ran": self.ran}

    def view(self) -> Iterable[Block]:
        """One sentence."""
        name = self.job_view.job.name
        yield Cell(f"stopped {name}" if self.ran else f"{name} is not running: {self.job_view.state}", Tone.GOOD)


def stop(name: str, *, now: bool, within: float, progress: Progress) -> StoppedJob:
    """Stop a job after its running batch; `now` kills it during the batch.

    Blocks up to `within` seconds; RefusedError when it runs longer, SparkError when the job failed.
    """
    job = registry.pick(name)
    if not job.alive:
        job.end(within=5.0)  # processes left by a killed job
        return StoppedJob(JobView.of(job), ran=False)
    if now:
        if not end_now(job):
            raise RefusedError(f"processes of {job.name} cannot be killed", resolution="see ps -ef")
        return StoppedJob(JobView.of(job), ran=True)
    job.request_stop()
    progress(f"stopping {job.name} after its running batch")
    deadline = time.monotonic() + within
    while job.state not in ENDED:
        if time.monotonic() > deadline:
            raise RefusedError(
                f"the batch of {job.name} is not finished after {within:.0f} s; the job stops when it is",
                resolution=f"wait longer (--timeout), or stop it now: kcluster job stop {job.name} --now",
            )
        time.sleep(_POLL)
    if job.state in (JobState.FAILED, JobState.DIED):
        raise failure(job)
    wait_until_gone(job)
    return StoppedJob(JobView.of(job), ran=True)
