"""An orderly stop, at the worst of moments."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from spark_jobs.runtime.job_dir import JobDir
from spark_jobs.runtime.streaming_query import BatchGate, StopRequested, watch


class Query:
    """A query that begins a batch at the moment it is stopped, and ends when that batch has."""

    def __init__(self, gate: BatchGate) -> None:
        self.gate = gate
        self.outcome: list[Any] = []

    def stop(self) -> None:
        batch = threading.Thread(target=self._batch, daemon=True)
        batch.start()
        batch.join(10)
        assert not batch.is_alive(), "the batch waits for the stop, and the stop for the batch"

    def _batch(self) -> None:
        try:
            with self.gate.batch():
                self.outcome.append("worked")
        except StopRequested as problem:
            self.outcome.append(problem)


def test_a_batch_that_begins_while_the_job_stops_is_left_to_the_next_run() -> None:
    gate = BatchGate()
    query = Query(gate)
    query._batch()
    gate.stop(query)  # type: ignore[arg-type]
    assert query.outcome[0] == "worked"
    assert isinstance(query.outcome[1], StopRequested)
    with pytest.raises(StopRequested), gate.batch():
        pass


def test_the_batch_in_hand_ends_before_the_query_is_stopped() -> None:
    gate, begun, order = BatchGate(), threading.Event(), list[str]()

    class Told:
        def stop(self) -> None:
            order.append("stopped")

    def batch() -> None:
        with gate.batch():
            begun.set()
            while not gate._stopping.is_set():
                threading.Event().wait(0.01)
            order.append("done")

    working = threading.Thread(target=batch)
    working.start()
    begun.wait(10)
    gate.stop(Told())  # type: ignore[arg-type]
    working.join(10)
    assert order == ["done", "stopped"]


def test_a_batch_that_fails_while_the_job_stops_is_raised(tmp_path: Path) -> None:
    gate, begun = BatchGate(), threading.Event()
    (tmp_path / "stop").touch()
    query = Mock(recentProgress=[])
    query.awaitTermination.side_effect = lambda _: not begun.wait(10)

    def work() -> None:
        with gate.batch():
            begun.set()
            gate._stopping.wait(10)
            raise OSError("No space left on device")

    def batch() -> None:
        with suppress(OSError):  # it is Spark's
            work()

    def run() -> str:
        return watch(query, JobDir(tmp_path), gate, lambda _: {})

    working = threading.Thread(target=batch)
    working.start()
    with pytest.raises(OSError, match="No space left on device"):
        run()
    working.join(10)
    gate.failed = None
    with pytest.raises(StopRequested), gate.batch():  # one that Spark begins nevertheless is no failure
        pass
    assert run() == "stopped"
