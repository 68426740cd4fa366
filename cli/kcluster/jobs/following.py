"""Waiting for a job: until it runs, or to its end with a line for each batch."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcluster.errors import ExitCode, SparkError
from kcluster.interrupt import Interrupt
from kcluster.jobs.job_view import JobView, batch_line
from kcluster.jobs.registry import ENDED, Job, JobState
from kcluster.results import Block, Cell, Progress, Result, Tone, counted

READY_WITHIN = 600.0
"""Seconds for a job to start: a busy resource manager may take minutes."""
GONE_WITHIN = 30.0
"""Seconds for the process to exit after the job wrote its final state."""
_POLL = 0.05

_UNSPECIFIC = "An error occurred while calling"
"""The start of a cause without the error of the JVM."""
_CAUSE_PATTERNS = (
    r"^: (?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)",  # as Py4J reports what the JVM raised
    r"^Caused by: (?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)",
    r'^Exception in thread "main" (?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)',
    r"^(?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)",
    r"^(Error: .+)",
    r"^(?:Error|ERROR)\b[: ](.+)",
)


@dataclass(frozen=True)
class FollowedJob(Result):
    """A job that was followed to its end, with the counts of this run."""

    job_view: JobView
    batches: int
    records: int
    dead: int
    seconds: float
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """INTERRUPTED after Ctrl-C; a failure is an error and never comes here."""
        return ExitCode.INTERRUPTED if self.interrupted else ExitCode.DONE

    def data(self) -> Any:
        """The job, and the counts of this run."""
        sums = {"batches": self.batches, "records": self.records, "dead": self.dead, "seconds": self.seconds}
        return {**self.job_view.data(), "run": sums}

    def view(self) -> Iterable[Block]:
        """One sentence."""
        done = f"{counted(self.records, 'record')} in {counted(self.batches, 'batch', 'batches')}"
        dead = f", of which {counted(self.dead, 'dead letter')}" if self.dead else ""
        tone = Tone.WARN if self.dead or self.interrupted else Tone.GOOD
        yield Cell(f"{self.job_view.job.name} {self.job_view.state} after {self.seconds:.1f} s: {done}{dead}", tone)


def until_running(job: Job) -> None:
    """Block until the job runs; SparkError when it fails or does not start in time; Ctrl-C ends the job."""
    deadline = time.monotonic() + READY_WITHIN
    try:
        while (state := job.state) is JobState.STARTING and time.monotonic() < deadline:
            time.sleep(_POLL)
    except KeyboardInterrupt:
        end_now(job)
        raise
    if state is JobState.STARTING:
        raise SparkError(
            f"job {job.name} is not running after {READY_WITHIN:.0f} s",
            details=f"its process is still starting; log: {job.log}",
            resolution=f"kcluster job logs {job.name}; to give up: kcluster job stop {job.name} --now",
        )
    if state in (JobState.FAILED, JobState.DIED):
        raise failure(job)


def follow(job: Job, offset: int, progress: Progress) -> FollowedJob:
    """Report each batch until the job ends; SparkError when it failed.

    Ctrl-C stops the job after the running batch, a second Ctrl-C at once.
    """
    begun = time.monotonic()
    followed: list[dict[str, Any]] = []
    with Interrupt() as interrupt:
        try:
            _report_batches(job, offset, followed, interrupt, progress)
        except KeyboardInterrupt:
            end_now(job)
            raise
    if job.state in (JobState.FAILED, JobState.DIED):
        raise failure(job)
    records, dead = (sum(batch.get(what, 0) for batch in followed) for what in ("records", "dead"))
    return FollowedJob(
        JobView.of(job), len(followed), records, dead, round(time.monotonic() - begun, 3), interrupt.seen
    )


def _report_batches(
    job: Job, offset: int, followed: list[dict[str, Any]], interrupt: Interrupt, progress: Progress
) -> None:
    stop_requested = False
    ended = False
    while not ended:
        ended = job.state in ENDED
        batches, offset = job.batches(offset)
        for batch in batches:
            progress(batch_line(batch))
        followed += batches
        if interrupt.seen and not stop_requested:
            stop_requested = True
            job.request_stop()
            progress(f"stopping {job.name} after the running batch; Ctrl-C again stops it now")
        if not ended:
            time.sleep(_POLL)
    wait_until_gone(job)


def wait_until_gone(job: Job) -> bool:
    """Block until the processes of an ended job are gone; False when some cannot be killed."""
    deadline = time.monotonic() + GONE_WITHIN
    while job.alive and time.monotonic() < deadline:
        time.sleep(_POLL)
    return job.end(within=5.0)


def end_now(job: Job) -> bool:
    """Kill all processes of a job, also during a batch; False when some are left."""
    ended = job.end(within=5.0)
    if ended and job.reported.get("state") not in (JobState.FINISHED, JobState.STOPPED):
        job.write_state(JobState.STOPPED)
    return ended


def failure(job: Job) -> SparkError:
    """The error for a job that failed or died: cause, log, and what to do."""
    wait_until_gone(job)
    reported = job.reported
    cause = str(reported.get("cause", "")) if reported.get("state") == JobState.FAILED else ""
    cause = cause_in_log(job.log) if not cause or cause.startswith(_UNSPECIFIC) else cause
    advice = str(reported.get("advice", ""))
    return SparkError(
        f"job {job.name} {'failed' if reported.get('state') == JobState.FAILED else 'died'}: {cause}",
        details=f"log: {job.log}",
        resolution=advice or f"kcluster job logs {job.name}",
    )


def cause_in_log(log: Path) -> str:
    """The line of a log with the most specific error; the last line without one."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    for pattern in _CAUSE_PATTERNS:
        if cause := _last_match(pattern, lines):
            return cause
    return next((line.strip() for line in reversed(lines) if line.strip()), "the log is empty")


def _last_match(pattern: str, lines: Sequence[str]) -> str:
    matches = [match[1].strip() for line in lines if (match := re.search(pattern, line))]
    return matches[-1][:300] if matches else ""
