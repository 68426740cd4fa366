"""The group failover of the smoke test: one consumer commits in the middle and stops, a second one resumes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError, RefusedError
from kcluster.smoke.traffic import READER_CONFIG, ends, until_reached

if TYPE_CHECKING:
    from confluent_kafka import Consumer

    from kcluster.clients.kafka import Kafka


@dataclass(frozen=True)
class GroupFailover:
    """The group's commits, and the partition and offset of each record its second consumer read."""

    commits: Mapping[int, int]
    ends: Mapping[int, int]
    resumed: Sequence[tuple[int, int]] = ()
    failure: str = ""
    """Why the failover could not be tested; the commits mean nothing then."""


class FailoverGroup:
    """A temporary consumer group, whose consumers assign their partitions themselves.

    Joining would cost 3 s (group.initial.rebalance.delay.ms) and test nothing about stored records.
    """

    def __init__(self, kafka: Kafka, topic: str) -> None:
        self._kafka, self._topic = kafka, topic
        self.name = f"{topic}-group"
        self._committed = False
        # It looks up its coordinator from now on, which takes a while for the first group of a cluster.
        self._consumer = self._member()

    def fail_over(self, partitions: Iterable[int], deadline: float) -> GroupFailover:
        """Read to the middle of each partition, commit, and resume with a second consumer, until the deadline."""
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
        """Close the consumer and delete the group; a failure to delete it is ignored."""
        self._consumer.close()
        if not self._committed:
            return  # there is no group, and without a coordinator its deletion would only wait
        try:
            self._kafka.wait(
                self._kafka.admin.delete_consumer_groups([self.name], request_timeout=5)[self.name], timeout=6
            )
        except KclusterError:
            # Brokers delete the group themselves once its topic is gone.
            return

    def _read_to(self, middles: Mapping[int, int], deadline: float) -> str:
        """Read from the beginning to these offsets; the reason when that was not possible, else an empty string."""
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
        """Commit these offsets; the reason when that was not possible, else an empty string.

        A new coordinator refuses until it has loaded its partition, so the commit is retried.
        """
        from confluent_kafka import KafkaException, TopicPartition

        offsets = [TopicPartition(self._topic, partition, middle) for partition, middle in middles.items()]
        while True:
            step = "its coordinator (__consumer_offsets) does not answer"
            try:
                # This respects its timeout; a commit without a coordinator blocks for 40 s.
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
        """Read from the offsets that the brokers store for the group; without a commit from the beginning."""
        from confluent_kafka import OFFSET_STORED, TopicPartition

        self._consumer.assign([TopicPartition(self._topic, partition, OFFSET_STORED) for partition in until])
        reached: dict[int, int] = {}
        messages = until_reached(self._consumer, until, reached, deadline)
        resumed = [(message.partition() or 0, message.offset() or 0) for message in messages]
        unfinished = sorted(partition for partition, end in until.items() if reached.get(partition, 0) < end)
        failure = f"its second consumer did not get to the end of partition {unfinished[0]}" if unfinished else ""
        return GroupFailover(commits, until, resumed, failure)

    def _member(self) -> Consumer:
        return self._kafka.consumer(**READER_CONFIG, **{"group.id": self.name})
