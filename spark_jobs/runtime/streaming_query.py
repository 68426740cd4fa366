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

LOOK = 0.25
"""Seconds between two looks at the query and at the wish to stop."""


class Stopping(Exception):  # noqa: N818  # no error: the end of a query that is being stopped
    """The job is to stop, and begins no further batch."""


class Batches:
    """Lets one batch through at a time, and none any more once the job is to stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self.failed: Exception | None = None
        """What a batch ended with that could not be done."""

    @contextmanager
    def one(self) -> Iterator[None]:
        """While a batch is worked on."""
        # Spark, asked to stop, waits for this very call: so it must not wait for the lock without end.
        while not self._lock.acquire(timeout=LOOK):
            self._refuse()
        try:
            self._refuse()
            yield
        except Stopping:
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

    def _refuse(self) -> None:
        if self._stopping.is_set():
            raise Stopping("the job was asked to stop; the batch is for its next run")


def follow(
    query: StreamingQuery,
    desk: JobDir,
    batches: Batches,
    counted: Callable[[int], dict[str, Any]],
    between: Callable[[], None] = lambda: None,
) -> str:
    """Report each batch until the query ends, "finished" or "stopped"; `between` is called at each look at it."""
    told = -1
    ended = False
    while not ended:
        ended = bool(query.awaitTermination(LOOK))  # type: ignore[arg-type]  # it takes fractions
        told = _report(query, desk, told, counted)
        if not ended and desk.stop_asked():
            batches.stop(query)
            _report(query, desk, told, counted)
            if batches.failed:  # nobody asks the query any more what it ended with
                raise batches.failed
            return "stopped"
        if not ended:
            between()
    return "finished"


def _report(query: StreamingQuery, desk: JobDir, told: int, counted: Callable[[int], dict[str, Any]]) -> int:
    """Write down the batches that ended since; the number of the last one."""
    for progress in (json.loads(each.json) for each in query.recentProgress):
        number = int(progress["batchId"])
        # Not by its records: none are read for a batch that a run before had done but for Spark's note.
        if number > told and "addBatch" in progress["durationMs"]:
            line = {**_line(progress), **counted(number)}
            desk.progress(**line, rate=round(line["records"] / line["seconds"]) if line["seconds"] else 0)
            told = number
    return told


def _line(progress: dict[str, Any]) -> dict[str, Any]:
    """One batch in numbers."""
    return {
        "batch": progress["batchId"],
        "records": progress["numInputRows"],
        "seconds": progress["durationMs"]["triggerExecution"] / 1000,
        "lag": sum(_behind(source) for source in progress["sources"]),
    }


def _behind(source: Any) -> int:
    """How many records of the topics are left to read."""
    read, newest = (_offsets(source[name]) for name in ("endOffset", "latestOffset"))
    return sum(max(0, end - read.get(place, 0)) for place, end in newest.items())


def _offsets(told: Any) -> dict[tuple[str, str], int]:
    return {(topic, number): end for topic, ends in (told or {}).items() for number, end in ends.items()}
