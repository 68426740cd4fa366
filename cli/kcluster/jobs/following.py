"""Watching a job: until it runs, or to its end with a line for each batch."""

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
from kcluster.results import Block, Cell, Progress, Result, Tone

READY_WITHIN = 600.0
"""Seconds in which a job runs: a busy resource manager may take minutes to give it room."""
GONE_WITHIN = 30.0
"""Seconds in which the process is gone after the job told its end."""
_LOOK = 0.05

_EMPTY = "An error occurred while calling"
"""How a cause begins that says nothing of what happened in the JVM."""
_TELLING = (
    r"^: (?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)",  # as Python tells what the JVM raised
    r"^Caused by: (?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)",
    r'^Exception in thread "main" (?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)',
    r"^(?:[\w.$]+\.)?(\w+(?:Exception|Error): .+)",
    r"^(Error: .+)",
    r"^(?:Error|ERROR)\b[: ](.+)",
)


@dataclass(frozen=True)
class FollowedJob(Result):
    """A job that was watched to its end, and what it did in that time."""

    seen: JobView
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
        """The job, and the sums of this run."""
        sums = {"batches": self.batches, "records": self.records, "dead": self.dead, "seconds": self.seconds}
        return {**self.seen.data(), "run": sums}

    def view(self) -> Iterable[Block]:
        """One sentence."""
        done = f"{self.records:,} records in {self.batches} batch{'' if self.batches == 1 else 'es'}"
        dead = f", {self.dead:,} of them dead letters" if self.dead else ""
        tone = Tone.WARN if self.dead or self.interrupted else Tone.GOOD
        yield Cell(f"{self.seen.job.name} {self.seen.state} after {self.seconds:.1f} s: {done}{dead}", tone)


def until_running(job: Job) -> None:
    """Wait until the job runs; when it ends before, or Ctrl-C comes, it is ended and that is told."""
    deadline = time.monotonic() + READY_WITHIN
    try:
        while (state := job.state) is JobState.STARTING and time.monotonic() < deadline:
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        end_now(job)
        raise
    if state is JobState.STARTING:
        raise SparkError(
            f"the job {job.name} does not run after {READY_WITHIN:.0f} s",
            details=f"it is still trying; its log is {job.log}",
            resolution=f"kcluster job logs {job.name}; to give up: kcluster job stop {job.name} --now",
        )
    if state in (JobState.FAILED, JobState.DIED):
        raise failure(job)


def follow(job: Job, before: int, progress: Progress) -> FollowedJob:
    """Tell each batch until the job ends. Ctrl-C asks it to end after the batch in hand, a second one ends it now."""
    begun = time.monotonic()
    told: list[dict[str, Any]] = []
    with Interrupt() as interrupt:
        try:
            _tell(job, before, told, interrupt, progress)
        except KeyboardInterrupt:
            end_now(job)
            raise
    if job.state in (JobState.FAILED, JobState.DIED):
        raise failure(job)
    records, dead = (sum(batch.get(what, 0) for batch in told) for what in ("records", "dead"))
    return FollowedJob(JobView.of(job), len(told), records, dead, round(time.monotonic() - begun, 3), interrupt.seen)


def _tell(job: Job, place: int, told: list[dict[str, Any]], interrupt: Interrupt, progress: Progress) -> None:
    asked = False
    ended = False
    while not ended:
        ended = job.state in ENDED
        batches, place = job.batches(place)
        for batch in batches:
            progress(batch_line(batch))
        told += batches
        if interrupt.seen and not asked:
            asked = True
            job.ask_to_stop()
            progress(f"{job.name} ends after the batch in hand; Ctrl-C again ends it now")
        if not ended:
            time.sleep(_LOOK)
    gone(job)


def gone(job: Job) -> bool:
    """Wait until the processes of a job that ended are gone, so that it can be submitted again; whether they are."""
    deadline = time.monotonic() + GONE_WITHIN
    while job.alive and time.monotonic() < deadline:
        time.sleep(_LOOK)
    return job.end(within=5.0)


def end_now(job: Job) -> bool:
    """End the job in the middle of what it does; whether every process is gone."""
    ended = job.end(within=5.0)
    if ended and job.told.get("state") not in (JobState.FINISHED, JobState.STOPPED):
        job.tell(JobState.STOPPED)
    return ended


def failure(job: Job) -> SparkError:
    """Why a job ended, in one line; the rest is in the log."""
    gone(job)
    told = job.told
    cause = str(told.get("cause", "")) if told.get("state") == JobState.FAILED else ""
    cause = telling(job.log) if not cause or cause.startswith(_EMPTY) else cause
    advice = str(told.get("advice", ""))
    return SparkError(
        f"the job {job.name} {'failed' if told.get('state') == JobState.FAILED else 'died'}: {cause}",
        details=f"log: {job.log}",
        resolution=advice or f"kcluster job logs {job.name}",
    )


def telling(log: Path) -> str:
    """The line of a log that says what went wrong."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    for pattern in _TELLING:
        if found := _last(pattern, lines):
            return found
    return next((line.strip() for line in reversed(lines) if line.strip()), "it wrote nothing")


def _last(pattern: str, lines: Sequence[str]) -> str:
    found = [match[1].strip() for line in lines if (match := re.search(pattern, line))]
    return found[-1][:300] if found else ""
