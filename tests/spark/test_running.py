"""An orderly stop, at the worst of moments."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from spark_jobs.running import Batches, Stopping


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
