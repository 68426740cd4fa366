"""The group's part of the proof: one consumer stops in the middle and commits, a second goes on from there."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError, RefusedError
from kcluster.smoke.traffic import READER, ends, until_reached

if TYPE_CHECKING:
    from confluent_kafka import Consumer

    from kcluster.clients.kafka import Kafka


@dataclass(frozen=True)
class GroupFailover:
    """What the group committed, and the partition and offset of each record its second consumer read."""

    commits: Mapping[int, int]
    ends: Mapping[int, int]
    resumed: Sequence[tuple[int, int]] = ()
    failure: str = ""
    """Why the group could not be asked at all; nothing is known about its commits then."""


class FailoverGroup:
    """A throw-away consumer group, whose consumers take their partitions by themselves.

    Brokers keep the first member of a new group waiting for 3 s, which proves nothing about what they keep.
    """

    def __init__(self, kafka: Kafka, topic: str) -> None:
        self._kafka, self._topic = kafka, topic
        self.name = f"{topic}-group"
        self._committed = False
        # It looks for its coordinator from now on, which takes a while where the first group of a cluster begins.
        self._consumer = self._member()

    def hand_over(self, partitions: Iterable[int], deadline: float) -> GroupFailover:
        """Read to the middle of each partition, commit, and let a second consumer of the group take over."""
        try:
            until = ends(self._consumer, self._topic, partitions, deadline)
        except RefusedError as problem:
            return GroupFailover({}, {}, failure=problem.message)
        middles = {partition: end // 2 for partition, end in until.items()}
        if failure := self._read_to(middles, deadline) or self._commit(middles, deadline):
            return GroupFailover({}, until, failure=failure)
        self._consumer.close()
        self._consumer = self._member()
        return self._resume(middles, until, deadline)

    def close(self) -> None:
        """Remove the group."""
        self._consumer.close()
        if not self._committed:
            return  # there is no group, and without a coordinator its removal would only wait
        try:
            self._kafka.wait(
                self._kafka.admin.delete_consumer_groups([self.name], request_timeout=5)[self.name], timeout=6
            )
        except KclusterError:
            # Nothing is lost with it: without its topic the brokers forget the group by themselves.
            return

    def _read_to(self, middles: Mapping[int, int], deadline: float) -> str:
        """Read from the beginning to these offsets; the answer is why that was not possible."""
        from confluent_kafka import TopicPartition

        self._consumer.assign([TopicPartition(self._topic, partition, 0) for partition in middles])
        reached: dict[int, int] = {}
        for _ in until_reached(self._consumer, middles, reached, deadline):
            pass
        self._consumer.unassign()
        if any(reached.get(partition, 0) < middle for partition, middle in middles.items()):
            return f"its first consumer had read only {sum(reached.values())} records"
        return ""

    def _commit(self, middles: Mapping[int, int], deadline: float) -> str:
        """Commit these offsets; the answer is why that was not possible.

        A coordinator that was just chosen refuses until it has read its part, so it is asked again.
        """
        from confluent_kafka import KafkaException, TopicPartition

        offsets = [TopicPartition(self._topic, partition, middle) for partition, middle in middles.items()]
        while True:
            step = "its coordinator (__consumer_offsets) does not answer"
            try:
                # This question waits no longer than it is told to; a commit without a coordinator takes 40 s.
                self._consumer.committed(offsets, timeout=max(1.0, deadline - time.monotonic()))
                step = "its commit failed"
                self._consumer.commit(offsets=offsets, asynchronous=False)
            except KafkaException as problem:
                error = problem.args[0]
                if "AUTHORIZATION_FAILED" in error.name() or time.monotonic() > deadline:
                    return f"{step}: {error.str()}"
                self._consumer.poll(0.1)
                continue
            self._committed = True
            return ""

    def _resume(self, commits: Mapping[int, int], until: Mapping[int, int], deadline: float) -> GroupFailover:
        """Read from where the brokers say that the group stands; without a commit that is the beginning."""
        from confluent_kafka import OFFSET_STORED, TopicPartition

        self._consumer.assign([TopicPartition(self._topic, partition, OFFSET_STORED) for partition in until])
        reached: dict[int, int] = {}
        messages = until_reached(self._consumer, until, reached, deadline)
        resumed = [(message.partition() or 0, message.offset() or 0) for message in messages]
        unfinished = sorted(partition for partition, end in until.items() if reached.get(partition, 0) < end)
        failure = f"its second consumer did not get to the end of partition {unfinished[0]}" if unfinished else ""
        return GroupFailover(commits, until, resumed, failure)

    def _member(self) -> Consumer:
        return self._kafka.consumer(**READER, **{"group.id": self.name})
