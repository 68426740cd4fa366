"""Looking into topics without Spark: where a job's dead letters came from, and which offsets still hold a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from spark_jobs.ingest.offset_sets import OffsetSet

WITHIN = 60.0
"""Seconds in which the brokers answer, or the audit fails and says so."""


class TopicReader:
    """Topics seen by a consumer that is in no group."""

    def __init__(self, job: str, client: Mapping[str, Any]) -> None:
        self.client = {**client, "group.id": f"kcluster-job-{job}", "enable.auto.commit": False}

    def dead_letter_headers(self, topic: str) -> Iterator[dict[str, str]]:
        """The headers of each dead letter in a topic."""
        with self._consumer("read_committed") as consumer:
            for partition in _partitions(consumer, topic):
                low, high = _ends(consumer, topic, partition)
                for message in _messages(consumer, topic, partition, low, high):
                    # Of others who write there a header may be any bytes.
                    yield {name: (value or b"").decode(errors="replace") for name, value in message.headers() or ()}

    def is_truncated(self, topic: str) -> bool:
        """Whether a topic no longer has all that was ever in it."""
        with self._consumer("read_committed") as consumer:
            return any(_ends(consumer, topic, partition)[0] for partition in _partitions(consumer, topic))

    def existing(self, topic: str, partition: int, wanted: OffsetSet, isolation: str) -> tuple[int, OffsetSet]:
        """The first offset that a partition still has, and which of the wanted offsets hold a record."""
        found = OffsetSet()
        with self._consumer(isolation) as consumer:
            if partition not in _partitions(consumer, topic):
                return max(last for _, last in wanted.ranges()) + 1, found
            low, high = _ends(consumer, topic, partition)
            ranges = [(max(first, low), min(last + 1, high)) for first, last in wanted.ranges() if last >= low]
            if ranges:
                for message in _messages(consumer, topic, partition, ranges[0][0], ranges[-1][1]):
                    if message.offset() in wanted:
                        found.add(message.offset())
        return low, found

    def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """The id that each topic got when it was created; none of one that is not there, or that brokers gave none."""
        from confluent_kafka import KafkaError, KafkaException, TopicCollection, Uuid
        from confluent_kafka.admin import AdminClient

        found: dict[str, Any] = {}
        admin = AdminClient({**self.client, "log_level": 2})  # it would say that it is in no group
        for name, answer in admin.describe_topics(TopicCollection(list(names)), request_timeout=WITHIN).items():
            try:
                found[name] = answer.result().topic_id
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
        return {name: str(topic_id) for name, topic_id in found.items() if topic_id not in (None, Uuid(0, 0))}

    def deleted_ranges(self, reached: dict[str, dict[str, int]]) -> list[str]:
        """What is deleted of what would be read next, in words."""
        with self._consumer("read_uncommitted") as consumer:
            places = [(topic, int(number), at) for topic, ends in reached.items() for number, at in ends.items()]
            lows = [(topic, number, at, _ends(consumer, topic, number)[0]) for topic, number, at in places]
        return [f"{topic} partition {number} offsets {at}-{low - 1}" for topic, number, at, low in lows if low > at]

    @contextmanager
    def _consumer(self, isolation: str) -> Iterator[Any]:
        from confluent_kafka import Consumer

        consumer = Consumer({**self.client, "isolation.level": isolation, "enable.partition.eof": True})
        try:
            yield consumer
        finally:
            consumer.close()


def _partitions(consumer: Any, topic: str) -> list[int]:
    """The partitions of a topic; none when it is not there."""
    return sorted(consumer.list_topics(topic, WITHIN).topics[topic].partitions)


def _ends(consumer: Any, topic: str, partition: int) -> tuple[int, int]:
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), WITHIN)
    return int(low), int(high)


def _messages(consumer: Any, topic: str, partition: int, start: int, end: int) -> Iterator[Any]:
    """The records of a partition from one offset to before another."""
    from confluent_kafka import KafkaError, KafkaException, TopicPartition

    if start >= end:
        return
    consumer.assign([TopicPartition(topic, partition, start)])
    while True:
        message = consumer.poll(WITHIN)
        if message is None:
            raise TimeoutError(f"{topic} partition {partition}: no answer within {WITHIN:.0f} s")
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if error is not None or message.offset() >= end:
            return
        yield message
