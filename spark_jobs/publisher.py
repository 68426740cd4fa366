"""Records into a topic, each once: a transaction holds what a numbered step has to say together with its number."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

WITHIN = 60.0
"""Seconds in which the brokers answer, or the job fails and says so."""

PAUSE = 0.5
"""Seconds before it is tried again."""

TRANSACTION = 15 * 60 * 1000
"""The longest transaction that brokers allow unless told otherwise, in milliseconds."""


@dataclass(frozen=True)
class Message:
    """One record."""

    value: bytes | None
    key: bytes | None
    headers: Mapping[str, str]


class Publisher:
    """One writer into one topic; of two with the same name only the younger may write."""

    def __init__(self, name: str, log: str, topic: str, client: Mapping[str, Any]) -> None:
        self.name = name
        """The transactional id, and the group in which the numbers are committed."""
        self.log = log
        """Whose numbers these are: with another log they begin anew."""
        self.topic = topic
        self.client = dict(client)

    def prepare(self) -> None:
        """Create the topic when it is not there, with as many partitions and replicas as the brokers give."""
        from confluent_kafka import KafkaError
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient(self.client)
        error = admin.list_topics(self.topic, WITHIN).topics[self.topic].error
        if error is not None and error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            admin.create_topics([NewTopic(self.topic, -1, -1)])[self.topic].result(WITHIN)

    def send(self, messages: Callable[[], Iterable[Message]], number: int) -> None:
        """Write the messages of a step, unless that was done before this run.

        The number of the step is committed as the offset of a group, with the log as its note, in the same
        transaction: so whoever does the step again knows whether its messages are there. That may be this run as
        well: while brokers come and go it tries again.
        """
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + WITHIN
        while True:
            try:
                return self._send(messages, number)
            except KafkaException as problem:
                if not _passing(problem.args[0]) or time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE)

    def _send(self, messages: Callable[[], Iterable[Message]], number: int) -> None:
        """Try it once, with a producer of its own: it closes whatever transaction was left open."""
        from confluent_kafka import Consumer, Producer, TopicPartition

        consumer = Consumer({**self.client, "group.id": self.name, "enable.auto.commit": False})
        try:
            producer = self._producer(Producer)
            # From here on a transaction that was left open is closed, so what is committed is final.
            (before,) = consumer.committed([TopicPartition(self.topic, 0)], WITHIN)
            if before.offset > number and before.metadata == self.log:
                return
            producer.begin_transaction()
            for message in messages():
                self._produce(producer, message)
            done = [TopicPartition(self.topic, 0, number + 1, self.log)]
            producer.send_offsets_to_transaction(done, consumer.consumer_group_metadata(), WITHIN)
            producer.commit_transaction(TRANSACTION / 1000)
        finally:
            consumer.close()

    def _producer(self, kind: Any) -> Any:
        producer = kind(
            {
                **self.client,
                "transactional.id": self.name,
                "transaction.timeout.ms": TRANSACTION,
                "compression.type": "lz4",
                "linger.ms": 50,
            }
        )
        producer.init_transactions(WITHIN)
        return producer

    def _produce(self, producer: Any, message: Message) -> None:
        while True:
            try:
                producer.produce(self.topic, value=message.value, key=message.key, headers=dict(message.headers))
                producer.poll(0)
                return
            except BufferError:  # the queue is full: let it send
                producer.poll(0.1)


def _passing(error: Any) -> bool:
    """Whether an error goes away by itself: a group or a partition moves, a broker is away or does not know yet."""
    from confluent_kafka import KafkaError

    moving = (
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError._TIMED_OUT,
        KafkaError._TRANSPORT,
    )
    return not error.fatal() and (error.code() in moving or error.retriable() or error.txn_requires_abort())
