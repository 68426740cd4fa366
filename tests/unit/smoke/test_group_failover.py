from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from kcluster.smoke.group_failover import FailoverGroup


class Consumer:
    """Refuses its first commits with these errors."""

    def __init__(self, *errors: int) -> None:
        self.errors = list(errors)
        self.commits = 0

    def committed(self, offsets: list[Any], timeout: float) -> list[Any]:
        assert timeout >= 1
        return offsets

    def commit(self, offsets: list[Any], asynchronous: bool) -> None:
        assert not asynchronous
        self.commits += 1
        if self.errors:
            raise KafkaException(KafkaError(self.errors.pop(0)))

    def poll(self, timeout: float) -> None:
        pass


def commit(consumer: Consumer, within: float = 5) -> str:
    kafka: Any = SimpleNamespace(consumer=lambda **_: consumer)
    return FailoverGroup(kafka, "t")._commit({0: 5}, time.monotonic() + within)


def test_a_coordinator_that_was_just_chosen_is_asked_again() -> None:
    consumer = Consumer(KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
    assert commit(consumer) == ""
    assert consumer.commits == 3


@pytest.mark.parametrize(
    ("error", "within"), [(KafkaError.GROUP_AUTHORIZATION_FAILED, 5), (KafkaError.NOT_COORDINATOR, 0)]
)
def test_a_refusal_and_the_end_of_the_time_are_told(error: int, within: float) -> None:
    consumer = Consumer(error, error)
    assert commit(consumer, within).startswith("its commit failed: ")
    assert consumer.commits == 1
