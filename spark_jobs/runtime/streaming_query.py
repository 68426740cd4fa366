"""A streaming query from its start to its end: progress, an orderly stop, and nothing cut in the middle."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_jobs.runtime.job_dir import JobDir

POLL = 0.25
"""Seconds on_idle two looks at the query and at the wish to stop."""


class StopRequested(Exception):  # noqa: N818  # no error: the end of a query that is being stopped
    """The job is to stop, and begins no further batch."""


class BatchGate:
    """Lets one batch through at a time, and none any more once the job is to stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self.failed: Exception | None = None
        """What a batch ended with that could not be done."""

    @contextmanager
    def batch(self) -> Iterator[None]:
        """While a batch is worked on."""
        # Spark, asked to stop, waits for this very call: so it must not wait for the lock without end.
        while not self._lock.acquire(timeout=POLL):
            self._check_stop()
        try:
            self._check_stop()
            yield
        except StopRequested:
            raise
        except Exception as problem:
            self.failed = problem
            raise
        finally:
            self._lock.release()

    def stop(self, query: StreamingQuery) -> None:
        """End the query after the batch in hand; one that Spark did not note as done is recognised next time."""
        self._stopping.set()
        with self._lock:
            query.stop()

    def _check_stop(self) -> None:
        if self._stopping.is_set():
            raise StopRequested("the job was asked to stop; the batch is for its next run")


def watch(
    query: StreamingQuery,
    job_dir: JobDir,
    gate: BatchGate,
    counts: Callable[[int], dict[str, Any]],
    on_idle: Callable[[], None] = lambda: None,
) -> str:
    """Report each batch until the query ends, "finished" or "stopped"; `on_idle` is called at each look at it."""
    last = -1
    ended = False
    while not ended:
        ended = bool(query.awaitTermination(POLL))  # type: ignore[arg-type]  # it takes fractions
        last = _report(query, job_dir, last, counts)
        if not ended and job_dir.stop_requested():
            gate.stop(query)
            _report(query, job_dir, last, counts)
            if gate.failed:  # nobody asks the query any more what it ended with
                raise gate.failed
            return "stopped"
        if not ended:
            on_idle()
    return "finished"


def _report(query: StreamingQuery, job_dir: JobDir, last: int, counts: Callable[[int], dict[str, Any]]) -> int:
    """Write down the batches that ended since; the number of the last one."""
    for progress in (json.loads(each.json) for each in query.recentProgress):
        number = int(progress["batchId"])
        # Not by its records: none are read for a batch that a run before had done but for Spark's note.
        if number > last and "addBatch" in progress["durationMs"]:
            line = {**_line(progress), **counts(number)}
            job_dir.append_progress(**line, rate=round(line["records"] / line["seconds"]) if line["seconds"] else 0)
            last = number
    return last


def _line(progress: dict[str, Any]) -> dict[str, Any]:
    """One batch in numbers."""
    return {
        "batch": progress["batchId"],
        "records": progress["numInputRows"],
        "seconds": progress["durationMs"]["triggerExecution"] / 1000,
        "lag": sum(_lag(source) for source in progress["sources"]),
    }


def _lag(source: Any) -> int:
    """How many records of the topics are left to read."""
    read, newest = (_offsets(source[name]) for name in ("endOffset", "latestOffset"))
    return sum(max(0, end - read.get(place, 0)) for place, end in newest.items())


def _offsets(last: Any) -> dict[tuple[str, str], int]:
    return {(topic, number): end for topic, ends in (last or {}).items() for number, end in ends.items()}
