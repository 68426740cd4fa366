"""An orderly stop, at the worst of moments."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from spark_jobs.runtime.job_dir import JobDir
from spark_jobs.runtime.streaming_query import Batches, Stopping, follow


class Query:
    """A query that begins a batch at the moment it is stopped, and ends when that batch has."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self.outcome: list[Any] = []

    def stop(self) -> None:
        batch = threading.Thread(target=self._batch, daemon=True)
        batch.start()
        batch.join(10)
        assert not batch.is_alive(), "the batch waits for the stop, and the stop for the batch"

    def _batch(self) -> None:
        try:
            with self.batches.one():
                self.outcome.append("worked")
        except Stopping as problem:
            self.outcome.append(problem)


def test_a_batch_that_begins_while_the_job_stops_is_left_to_the_next_run() -> None:
    batches = Batches()
    query = Query(batches)
    query._batch()
    batches.stop(query)  # type: ignore[arg-type]
    assert query.outcome[0] == "worked"
    assert isinstance(query.outcome[1], Stopping)
    with pytest.raises(Stopping), batches.one():
        pass


def test_the_batch_in_hand_ends_before_the_query_is_stopped() -> None:
    batches, begun, order = Batches(), threading.Event(), list[str]()

    class Told:
        def stop(self) -> None:
            order.append("stopped")

    def batch() -> None:
        with batches.one():
            begun.set()
            while not batches._stopping.is_set():
                threading.Event().wait(0.01)
            order.append("done")

    working = threading.Thread(target=batch)
    working.start()
    begun.wait(10)
    batches.stop(Told())  # type: ignore[arg-type]
    working.join(10)
    assert order == ["done", "stopped"]


def test_a_batch_that_fails_while_the_job_stops_is_told(tmp_path: Path) -> None:
    batches, begun = Batches(), threading.Event()
    (tmp_path / "stop").touch()
    query = Mock(recentProgress=[])
    query.awaitTermination.side_effect = lambda _: not begun.wait(10)

    def work() -> None:
        with batches.one():
            begun.set()
            batches._stopping.wait(10)
            raise OSError("No space left on device")

    def batch() -> None:
        with suppress(OSError):  # it is Spark's
            work()

    def run() -> str:
        return follow(query, JobDir(tmp_path), batches, lambda _: {})

    working = threading.Thread(target=batch)
    working.start()
    with pytest.raises(OSError, match="No space left on device"):
        run()
    working.join(10)
    batches.failed = None
    with pytest.raises(Stopping), batches.one():  # one that Spark begins nevertheless is no failure
        pass
    assert run() == "stopped"
