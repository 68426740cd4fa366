"""`job logs`: the output of Spark and the job."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kcluster.jobs import registry
from kcluster.jobs.registry import Job
from kcluster.local.node_log import size, tail
from kcluster.results import Block, Result

_POLL = 0.1


@dataclass(frozen=True)
class JobLog(Result):
    """The last lines of a job's log."""

    job: Job
    lines: Sequence[str]
    new_lines: Iterator[str] | None = field(default=None, repr=False)
    """Lines written from now on, until the job ends."""

    def data(self) -> Any:
        """The last lines, and the file."""
        return {"log": str(self.job.log), "lines": list(self.lines)}

    def view(self) -> Iterable[Block]:
        """The last lines, then new ones."""
        yield from self.lines
        yield from self.new_lines or ()


def logs(name: str, lines: int, *, follow: bool) -> JobLog:
    """The last lines of a job's log, with `follow` also new ones; UsageError for an unknown job."""
    job = registry.pick(name)
    end = size(job.log)
    return JobLog(job, tail(job.log, lines, until=end), _new_lines(job, end) if follow else None)


def _new_lines(job: Job, end: int) -> Iterator[str]:
    """Lines written after an offset, until the process is gone; blocks between them."""
    with job.log.open(errors="replace") as file:
        file.seek(end)
        alive, partial = True, ""
        while alive:
            alive = job.alive  # before reading, so that the last lines are not missed
            while text := file.readline():
                partial += text
                if partial.endswith("\n"):
                    yield partial.rstrip("\n")
                    partial = ""
            if alive:
                time.sleep(_POLL)
