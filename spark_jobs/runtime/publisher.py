"""Exactly-once writes into a topic: a transaction holds the messages of a numbered step together with the number."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

WITHIN = 60.0
"""Seconds for the brokers to answer, then the job fails."""

RETRY_PAUSE = 0.5
"""Seconds between two attempts."""

TRANSACTION_TIMEOUT = 15 * 60 * 1000
"""The default of transaction.max.timeout.ms of brokers, in milliseconds."""

MAX_MESSAGE_BYTES = 1_000_000_000
"""The largest message.max.bytes of librdkafka: the limit is the topic's, not the client's."""


@dataclass(frozen=True)
class NumberedMessage:
    """A message of a step: value, key and headers."""

    value: bytes | None
    key: bytes | None
    headers: Mapping[str, str]


class Publisher:
    """A transactional writer into one topic; of two with the same name and log the brokers fence the older."""

    def __init__(self, name: str, log: str, topic: str, client: Mapping[str, Any]) -> None:
        self.name = f"{name}-{log}"
        """The transactional id, and the group in which the numbers are committed."""
        self.legacy_name = name
        """The transactional id of older versions, which left out the log: jobs of one name fenced each other."""
        self.log = log
        """The id of the sequence of steps: with another log numbers start over."""
        self.topic = topic
        self.client = dict(client)
        self._too_large: Any = None
        """The delivery error of a message that is larger than the topic allows."""

    def ensure_topic(self) -> None:
        """Create the topic, unless it exists, with the brokers' default partitions and replicas."""
        from confluent_kafka import KafkaError
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient(self.client)
        error = admin.list_topics(self.topic, WITHIN).topics[self.topic].error
        if error is not None and error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            admin.create_topics([NewTopic(self.topic, -1, -1)])[self.topic].result(WITHIN)

    def send(self, messages: Callable[[], Iterable[NumberedMessage]], number: int) -> None:
        """Write the messages of a step unless they are in the topic already; retries for WITHIN seconds, then raises.

        The step's number is committed in the same transaction, as the offset of a consumer group with the log as its
        metadata: a repeated step, of this run or a later one, finds there whether its messages were written.
        """
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + WITHIN
        while True:
            try:
                return self._send(messages, number)
            except KafkaException as problem:
                if self._too_large is not None:  # the transaction error does not say which message failed
                    raise KafkaException(self._too_large) from problem
                if not _is_transient(problem.args[0]) or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_PAUSE)

    def _send(self, messages: Callable[[], Iterable[NumberedMessage]], number: int) -> None:
        """One attempt, with a new producer."""
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
        """A producer with this transactional id, its consumer, and the last committed step of this log; -1 for none."""
        from confluent_kafka import Consumer, TopicPartition

        producer = self._producer(name)
        consumer = Consumer({**self.client, "group.id": name, "enable.auto.commit": False})
        try:
            # Opening the producer ended any open transaction, so the committed number is final.
            (done,) = consumer.committed([TopicPartition(self.topic, 0)], WITHIN)
        except BaseException:
            consumer.close()
            raise
        return producer, consumer, done.offset if done.metadata == self.log else -1

    def _legacy_commit(self) -> int:
        """The last step committed under the legacy name; asked only while none is committed under the current one."""
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
            except BufferError:  # the queue is full: let it drain
                producer.poll(0.1)


def _is_transient(error: Any) -> bool:
    """Whether a retry may succeed: a coordinator or leader moves, or a broker is down or not up to date yet."""
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
