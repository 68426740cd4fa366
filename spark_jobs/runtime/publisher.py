"""Records into a topic, each once: a transaction holds what a numbered step has to say together with its number."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

WITHIN = 60.0
"""Seconds in which the brokers answer, or the job fails and says so."""

RETRY_PAUSE = 0.5
"""Seconds before it is tried again."""

TRANSACTION_TIMEOUT = 15 * 60 * 1000
"""The longest transaction that brokers allow unless told otherwise, in milliseconds."""

MAX_MESSAGE_BYTES = 1_000_000_000
"""Bytes of a message, as many as there may be: the topic says what is too large, not we."""


@dataclass(frozen=True)
class NumberedMessage:
    """One record."""

    value: bytes | None
    key: bytes | None
    headers: Mapping[str, str]


class Publisher:
    """One writer into one topic; of two with the same name and log only the younger may write."""

    def __init__(self, name: str, log: str, topic: str, client: Mapping[str, Any]) -> None:
        self.name = f"{name}-{log}"
        """The transactional id, and the group in which the numbers are committed."""
        self.legacy_name = name
        """The same of versions that left out the log, so that jobs of one name were in each other's way."""
        self.log = log
        """Whose numbers these are: with another log they begin anew."""
        self.topic = topic
        self.client = dict(client)
        self._too_large: Any = None
        """The error of a message that the topic does not take."""

    def ensure_topic(self) -> None:
        """Create the topic when it is not there, with as many partitions and replicas as the brokers give."""
        from confluent_kafka import KafkaError
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient(self.client)
        error = admin.list_topics(self.topic, WITHIN).topics[self.topic].error
        if error is not None and error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            admin.create_topics([NewTopic(self.topic, -1, -1)])[self.topic].result(WITHIN)

    def send(self, messages: Callable[[], Iterable[NumberedMessage]], number: int) -> None:
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
                if self._too_large is not None:  # the transaction itself only says that some message did not arrive
                    raise KafkaException(self._too_large) from problem
                if not _is_transient(problem.args[0]) or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_PAUSE)

    def _send(self, messages: Callable[[], Iterable[NumberedMessage]], number: int) -> None:
        """Try it once, with a producer of its own."""
        from confluent_kafka import TopicPartition

        producer, consumer, done = self._open(self.name)
        try:
            if (done if done >= 0 else self._legacy_commit()) > number:
                return
            producer.begin_transaction()
            for message in messages():
                self._produce(producer, message)
            behind = [TopicPartition(self.topic, 0, number + 1, self.log)]
            producer.send_offsets_to_transaction(behind, consumer.consumer_group_metadata(), WITHIN)
            producer.commit_transaction(TRANSACTION_TIMEOUT / 1000)
        finally:
            consumer.close()

    def _open(self, name: str) -> tuple[Any, Any, int]:
        """A producer of that name, its group, and the number committed there for this log; -1 when there is none."""
        from confluent_kafka import Consumer, TopicPartition

        producer = self._producer(name)
        consumer = Consumer({**self.client, "group.id": name, "enable.auto.commit": False})
        try:
            # The producer closed a transaction that was left open, so what is committed is final.
            (done,) = consumer.committed([TopicPartition(self.topic, 0)], WITHIN)
        except BaseException:
            consumer.close()
            raise
        return producer, consumer, done.offset if done.metadata == self.log else -1

    def _legacy_commit(self) -> int:
        """The number that a version committed which left out the log; only asked before there is a newer one."""
        _, consumer, done = self._open(self.legacy_name)
        consumer.close()
        return done

    def _producer(self, name: str) -> Any:
        from confluent_kafka import Producer

        producer = Producer(
            {
                **self.client,
                "transactional.id": name,
                "transaction.timeout.ms": TRANSACTION_TIMEOUT,
                "compression.type": "lz4",
                "linger.ms": 50,
                "message.max.bytes": MAX_MESSAGE_BYTES,
                "on_delivery": self._delivered,
            }
        )
        producer.init_transactions(WITHIN)
        return producer

    def _delivered(self, error: Any, _message: Any) -> None:
        from confluent_kafka import KafkaError

        if error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            self._too_large = error

    def _produce(self, producer: Any, message: NumberedMessage) -> None:
        while True:
            try:
                producer.produce(self.topic, value=message.value, key=message.key, headers=dict(message.headers))
                producer.poll(0)
                return
            except BufferError:  # the queue is full: let it send
                producer.poll(0.1)


def _is_transient(error: Any) -> bool:
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
