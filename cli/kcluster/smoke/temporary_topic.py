"""The temporary topic of a smoke test: led by each broker once, and deleted however the test ends."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.results import Progress

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka

CREATED_WITHIN = 8.0
"""Seconds for the controller to create the topic."""


@contextmanager
def topic_led_by_each_broker(
    kafka: Kafka, topic: str, brokers: Sequence[int], *, keep: bool, within: float, progress: Progress
) -> Iterator[dict[int, int]]:
    """Create the topic, yield the leader of each partition, and delete it at the end unless `keep`.

    Raises RefusedError when not every broker leads its partition `within` seconds.
    """
    try:
        _create(kafka, topic, brokers)
        yield _wait_for_leaders(kafka, topic, brokers, within)
    finally:
        if not keep:
            _delete(kafka, topic, progress)


def replicas(brokers: Sequence[int]) -> list[list[int]]:
    """The replicas of one partition per broker, which is its preferred leader; the next brokers follow."""
    copies = min(3, len(brokers))
    return [[brokers[(first + step) % len(brokers)] for step in range(copies)] for first in range(len(brokers))]


def _create(kafka: Kafka, topic: str, brokers: Sequence[int]) -> None:
    """Create the topic; retried while a new controller takes over."""
    from confluent_kafka.admin import NewTopic

    assignment = replicas(brokers)
    # Without a min.insync.replicas of its own it has that of the brokers, as most topics.
    config = {"retention.ms": "3600000"}
    new = NewTopic(topic, num_partitions=len(assignment), replica_assignment=assignment, config=config)
    deadline = time.monotonic() + CREATED_WITHIN
    tried = False
    while True:
        try:
            kafka.wait(
                kafka.admin.create_topics([new], request_timeout=CREATED_WITHIN)[topic], timeout=CREATED_WITHIN + 1
            )
            return
        except KclusterError as problem:
            if tried and problem.details == "TOPIC_ALREADY_EXISTS":
                return
            _raise_unless_transient(problem, deadline)
        tried = True
        time.sleep(0.2)


def _raise_unless_transient(problem: KclusterError, deadline: float) -> None:
    """Ignore what a new controller will fix; raise everything else, and everything after the deadline."""
    if not isinstance(problem, UnreachableError) and problem.details != "NOT_CONTROLLER":
        raise problem
    if time.monotonic() > deadline:
        # The brokers have just answered, so the controller is the one that does not.
        raise RefusedError(
            f"the controller did not create the temporary topic within {CREATED_WITHIN:.0f} s",
            details=problem.details,
            resolution="kcluster health",
        ) from problem


def _wait_for_leaders(kafka: Kafka, topic: str, brokers: Sequence[int], within: float) -> dict[int, int]:
    """The broker of each partition, once it leads it with all replicas in sync; raises RefusedError after `within`."""
    deadline = time.monotonic() + within
    leaders = dict(enumerate(brokers))
    while True:
        partitions = kafka.metadata(topic).topics[topic].partitions
        wrong = [
            number
            for number, broker in leaders.items()
            if number not in partitions
            or partitions[number].leader != broker
            or len(partitions[number].isrs) < len(partitions[number].replicas)
        ]
        if not wrong:
            return leaders
        if time.monotonic() > deadline:
            raise _not_led(leaders[wrong[0]], partitions.get(wrong[0]), within)
        time.sleep(0.05)


def _not_led(broker: int, partition: Any, within: float) -> RefusedError:
    state = f"leader {partition.leader}, in sync {partition.isrs} of {partition.replicas}" if partition else "missing"
    return RefusedError(
        f"broker {broker} does not lead its partition of the temporary topic, with all replicas in sync, "
        f"after {within:.0f} s",
        details=f"the partition: {state}",
        resolution="kcluster health",
    )


def _delete(kafka: Kafka, topic: str, progress: Progress) -> None:
    """Delete the topic; a failure is only reported, so that the result of the test stays."""
    try:
        kafka.wait(kafka.admin.delete_topics([topic], request_timeout=5, operation_timeout=5)[topic], timeout=6)
    except KclusterError as problem:
        if "UNKNOWN_TOPIC" not in problem.details:
            progress(f"cannot delete topic {topic}: {problem.message}; try: kcluster topic delete {topic}")
