"""`job logs`: what Spark and the job wrote."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kcluster.jobs import registry
from kcluster.jobs.registry import Job
from kcluster.local.node_log import size, tail
from kcluster.results import Block, Result

_LOOK = 0.1


@dataclass(frozen=True)
class Log(Result):
    """The last lines of a job's log."""

    job: Job
    lines: Sequence[str]
    coming: Iterator[str] | None = field(default=None, repr=False)
    """Lines that are written from now on, until the job ends."""

    def data(self) -> Any:
        """The lines that are there, and the file they are from."""
        return {"log": str(self.job.log), "lines": list(self.lines)}

    def view(self) -> Iterable[Block]:
        """The lines that are there, then those that come."""
        yield from self.lines
        yield from self.coming or ()


def logs(name: str, lines: int, *, follow: bool) -> Log:
    """The last lines of a job's log; with `follow` also those that come."""
    job = registry.pick(name)
    end = size(job.log)
    return Log(job, tail(job.log, lines, until=end), _coming(job, end) if follow else None)


def _coming(job: Job, end: int) -> Iterator[str]:
    """Whatever is written after this size, until the process is gone."""
    with job.log.open(errors="replace") as file:
        file.seek(end)
        alive, begun = True, ""
        while alive:
            alive = job.alive  # before reading, so that the last words are not missed
            while text := file.readline():
                begun += text
                if begun.endswith("\n"):
                    yield begun.rstrip("\n")
                    begun = ""
            if alive:
                time.sleep(_LOOK)
