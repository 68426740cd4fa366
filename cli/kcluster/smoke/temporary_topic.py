"""A topic that exists only for a proof: led by each broker once, and removed however the proof ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.results import Progress

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka

CREATED_WITHIN = 8.0
"""Seconds for the controller to make the topic."""


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the work as Ctrl-C does, so that it is cleaned up after them too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def topic_led_by_each_broker(
    kafka: Kafka, topic: str, brokers: Sequence[int], *, keep: bool, within: float, progress: Progress
) -> Iterator[dict[int, int]]:
    """Make the topic, say which broker leads which partition, and remove it at the end unless it is to be kept."""
    try:
        _create(kafka, topic, brokers)
        yield _led_as_planned(kafka, topic, brokers, within)
    finally:
        if not keep:
            _remove(kafka, topic, progress)


def replicas(brokers: Sequence[int]) -> list[list[int]]:
    """One partition for each broker, which is its preferred leader; the next brokers follow."""
    copies = min(3, len(brokers))
    return [[brokers[(first + step) % len(brokers)] for step in range(copies)] for first in range(len(brokers))]


def _create(kafka: Kafka, topic: str, brokers: Sequence[int]) -> None:
    """Make the topic; a controller that is just being replaced gets time."""
    from confluent_kafka.admin import NewTopic

    assignment = replicas(brokers)
    config = {"min.insync.replicas": "2" if len(assignment[0]) == 3 else "1", "retention.ms": "3600000"}
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
            _bear(problem, deadline)
        tried = True
        time.sleep(0.2)


def _bear(problem: KclusterError, deadline: float) -> None:
    """Let pass what a new controller will mend; raise the rest, and everything when the time is over."""
    if not isinstance(problem, UnreachableError) and problem.details != "NOT_CONTROLLER":
        raise problem
    if time.monotonic() > deadline:
        # Brokers have just answered, so it is the controller that does not.
        raise RefusedError(
            f"the controller did not make a topic for the proof within {CREATED_WITHIN:.0f} s",
            details=problem.details,
            resolution="kcluster health",
        ) from problem


def _led_as_planned(kafka: Kafka, topic: str, brokers: Sequence[int], within: float) -> dict[int, int]:
    """Wait until each broker leads the partition that was made for it, with all replicas in sync."""
    deadline = time.monotonic() + within
    wanted = dict(enumerate(brokers))
    while True:
        partitions = kafka.metadata(topic).topics[topic].partitions
        wrong = [
            number
            for number, broker in wanted.items()
            if number not in partitions
            or partitions[number].leader != broker
            or len(partitions[number].isrs) < len(partitions[number].replicas)
        ]
        if not wrong:
            return wanted
        if time.monotonic() > deadline:
            raise _not_led(wanted[wrong[0]], partitions.get(wrong[0]), within)
        time.sleep(0.05)


def _not_led(broker: int, partition: Any, within: float) -> RefusedError:
    seen = f"leader {partition.leader}, in sync {partition.isrs} of {partition.replicas}" if partition else "not there"
    return RefusedError(
        f"broker {broker} does not lead the partition made for it, with all replicas in sync, after {within:.0f} s",
        details=f"the partition: {seen}",
        resolution="kcluster health",
    )


def _remove(kafka: Kafka, topic: str, progress: Progress) -> None:
    """Remove the topic; when that fails, say how, but keep the outcome of the proof."""
    try:
        kafka.wait(kafka.admin.delete_topics([topic], request_timeout=5, operation_timeout=5)[topic], timeout=6)
    except KclusterError as problem:
        if "UNKNOWN_TOPIC" not in problem.details:
            progress(f"could not remove {topic}: {problem.message}; try: kcluster topic delete {topic}")
