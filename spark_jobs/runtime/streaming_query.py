"""Running a streaming query: progress of each micro-batch, and a stop that never cuts a batch."""

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
"""Seconds on_idle two checks of the query and of the request to stop."""


class StopRequested(Exception):  # noqa: N818  # not an error: the end of a query that is being stopped
    """Raised in a batch that Spark starts after the request to stop."""


class BatchGate:
    """Lets one batch run at a time, and none after the request to stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self.failed: Exception | None = None
        """The exception that ended a batch."""

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The context in which a batch runs; raises StopRequested once the job is to stop."""
        # query.stop() holds the lock and waits for this call: so this call must not wait for the lock forever.
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
        """Stop the query after the running batch; blocks. A batch without Spark's commit is repeated."""
        self._stopping.set()
        with self._lock:
            query.stop()

    def _check_stop(self) -> None:
        if self._stopping.is_set():
            raise StopRequested("the job is stopping: this batch is left to its next run")


def watch(
    query: StreamingQuery,
    job_dir: JobDir,
    gate: BatchGate,
    counts: Callable[[int], dict[str, Any]],
    on_idle: Callable[[], None] = lambda: None,
) -> str:
    """Append each batch to the progress until the query ends: "finished" or "stopped"; raises what ended it.

    Blocks. `on_idle` is called at each check of the query.
    """
    last = -1
    ended = False
    while not ended:
        ended = bool(query.awaitTermination(POLL))  # type: ignore[arg-type]  # it accepts fractions
        last = _report(query, job_dir, last, counts)
        if not ended and job_dir.stop_requested():
            gate.stop(query)
            _report(query, job_dir, last, counts)
            if gate.failed:  # the exception of a stopped query is not raised by Spark
                raise gate.failed
            return "stopped"
        if not ended:
            on_idle()
    return "finished"


def _report(query: StreamingQuery, job_dir: JobDir, last: int, counts: Callable[[int], dict[str, Any]]) -> int:
    """Append the batches that ended since the last report; returns the number of the newest."""
    for progress in (json.loads(each.json) for each in query.recentProgress):
        number = int(progress["batchId"])
        # Not by its records: none are read in a batch that an earlier run wrote without reaching Spark's commit.
        if number > last and "addBatch" in progress["durationMs"]:
            line = {**_line(progress), **counts(number)}
            job_dir.append_progress(**line, rate=round(line["records"] / line["seconds"]) if line["seconds"] else 0)
            last = number
    return last


def _line(progress: dict[str, Any]) -> dict[str, Any]:
    """The numbers of one batch."""
    return {
        "batch": progress["batchId"],
        "records": progress["numInputRows"],
        "seconds": progress["durationMs"]["triggerExecution"] / 1000,
        "lag": sum(_lag(source) for source in progress["sources"]),
    }


def _lag(source: Any) -> int:
    """How many records of the topics are not read yet."""
    read, newest = (_offsets(source[name]) for name in ("endOffset", "latestOffset"))
    return sum(max(0, end - read.get(partition, 0)) for partition, end in newest.items())


def _offsets(offsets: Any) -> dict[tuple[str, str], int]:
    return {(topic, number): end for topic, ends in (offsets or {}).items() for number, end in ends.items()}
