"""The group's part of the proof: one consumer stops in the middle and commits, a second goes on from there."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kcluster.errors import KclusterError, RefusedError
from kcluster.operations.proof import READER, ends, until_reached

if TYPE_CHECKING:
    from confluent_kafka import Consumer

    from kcluster.clients.kafka import Kafka


@dataclass(frozen=True)
class Handover:
    """What the group committed, and the partition and offset of each record its second consumer read."""

    commits: Mapping[int, int]
    ends: Mapping[int, int]
    resumed: Sequence[tuple[int, int]] = ()
    failure: str = ""
    """Why the group could not be asked at all; nothing is known about its commits then."""


class Group:
    """A throw-away consumer group. It joins when it is made: brokers keep a group's first member waiting for 3 s."""

    def __init__(self, kafka: Kafka, topic: str) -> None:
        self._kafka, self._topic = kafka, topic
        self.name = f"{topic}-group"
        self._revoked = False
        self._first = self._join(on_revoke=self._note_revoked)
        self._consumers = [self._first]

    def hand_over(self, partitions: Iterable[int], deadline: float) -> Handover:
        """Read to the middle of each partition, commit, and let a second consumer of the group take over."""
        try:
            until = ends(self._first, self._topic, partitions, deadline)
        except RefusedError as problem:
            return Handover({}, {}, failure=problem.message)
        return self._to_the_middle(until, deadline)

    def close(self) -> None:
        """Leave the group and remove it."""
        while self._consumers:
            self._consumers.pop().close()
        try:
            self._kafka.wait(
                self._kafka.admin.delete_consumer_groups([self.name], request_timeout=5)[self.name], timeout=6
            )
        except KclusterError:
            # Nothing is lost with it: without its topic the brokers forget the group by themselves.
            return

    def _to_the_middle(self, until: Mapping[int, int], deadline: float) -> Handover:
        from confluent_kafka import KafkaException, TopicPartition

        middles = {partition: end // 2 for partition, end in until.items()}
        reached: dict[int, int] = {}
        for _ in until_reached(self._first, middles, reached, deadline):
            pass
        if any(reached.get(partition, 0) < middle for partition, middle in middles.items()):
            return Handover({}, until, failure=f"its first consumer had read only {sum(reached.values())} records")
        self._first.pause(self._first.assignment())
        commits = [TopicPartition(self._topic, partition, middle) for partition, middle in middles.items()]
        try:
            self._first.commit(offsets=commits, asynchronous=False)
        except KafkaException as problem:
            return Handover({}, until, failure=f"its commit failed: {problem.args[0].str()}")
        return self._resume(middles, until, deadline)

    def _resume(self, commits: Mapping[int, int], until: Mapping[int, int], deadline: float) -> Handover:
        reached: dict[int, int] = {}
        resumed: list[tuple[int, int]] = []

        def start_again(*_: Any) -> None:
            # An assignment always begins at the commits, and the second consumer has made none.
            reached.clear()
            resumed.clear()

        second = self._join(on_assign=start_again)
        self._consumers.append(second)
        self._leave_when_asked(second, deadline)
        for message in until_reached(second, until, reached, deadline):
            resumed.append((message.partition() or 0, message.offset() or 0))
        unfinished = sorted(partition for partition, end in until.items() if reached.get(partition, 0) < end)
        failure = f"its second consumer did not get to the end of partition {unfinished[0]}" if unfinished else ""
        return Handover(commits, until, resumed, failure)

    def _leave_when_asked(self, second: Consumer, deadline: float) -> None:
        """Close the first consumer as soon as the second is known, so that the group is never empty and waits again."""
        while not self._revoked and time.monotonic() < deadline:
            second.poll(0.02)
            self._first.poll(0.05)
        self._consumers.remove(self._first)
        self._first.close()

    def _join(self, **callbacks: Any) -> Consumer:
        consumer = self._kafka.consumer(
            **READER,
            **{
                "group.id": self.name,
                "heartbeat.interval.ms": 200,
                "session.timeout.ms": 6000,
                "topic.metadata.refresh.interval.ms": 1000,
            },
        )
        consumer.subscribe([self._topic], **callbacks)
        return consumer

    def _note_revoked(self, *_: Any) -> None:
        self._revoked = True
