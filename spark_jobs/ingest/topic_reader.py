"""Reading topics without Spark: headers of dead letters, offsets that still have a record, ids of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from spark_jobs.ingest.offset_sets import OffsetSet

WITHIN = 60.0
"""Seconds for the brokers to answer, then the audit fails."""


class TopicReader:
    """A consumer that never joins a group."""

    def __init__(self, job: str, client: Mapping[str, Any]) -> None:
        self.client = {**client, "group.id": f"kcluster-job-{job}", "enable.auto.commit": False}

    def dead_letter_headers(self, topic: str) -> Iterator[dict[str, str]]:
        """The headers of each committed record in a dead-letter topic."""
        with self._consumer("read_committed") as consumer:
            for partition in _partitions(consumer, topic):
                low, high = _ends(consumer, topic, partition)
                for message in _messages(consumer, topic, partition, low, high):
                    # Headers of other writers may be any bytes.
                    yield {name: (value or b"").decode(errors="replace") for name, value in message.headers() or ()}

    def is_truncated(self, topic: str) -> bool:
        """Whether records were deleted from the start of a partition of a topic."""
        with self._consumer("read_committed") as consumer:
            return any(_ends(consumer, topic, partition)[0] for partition in _partitions(consumer, topic))

    def existing(self, topic: str, partition: int, offsets: OffsetSet, isolation: str) -> tuple[int, OffsetSet]:
        """The first offset of a partition, and those of the offsets offsets that have a record; reads the partition."""
        existing = OffsetSet()
        with self._consumer(isolation) as consumer:
            if partition not in _partitions(consumer, topic):
                return max(last for _, last in offsets.ranges()) + 1, existing
            low, high = _ends(consumer, topic, partition)
            ranges = [(max(first, low), min(last + 1, high)) for first, last in offsets.ranges() if last >= low]
            if ranges:
                for message in _messages(consumer, topic, partition, ranges[0][0], ranges[-1][1]):
                    if message.offset() in offsets:
                        existing.add(message.offset())
        return low, existing

    def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """The id of each topic; topics that do not exist and brokers without topic ids are left out."""
        from confluent_kafka import KafkaError, KafkaException, TopicCollection, Uuid
        from confluent_kafka.admin import AdminClient

        topic_ids: dict[str, Any] = {}
        admin = AdminClient({**self.client, "log_level": 2})  # without: warnings about the unused group
        for name, answer in admin.describe_topics(TopicCollection(list(names)), request_timeout=WITHIN).items():
            try:
                topic_ids[name] = answer.result().topic_id
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
        return {name: str(topic_id) for name, topic_id in topic_ids.items() if topic_id not in (None, Uuid(0, 0))}

    def deleted_ranges(self, next_offsets: dict[str, dict[str, int]]) -> list[str]:
        """A text for each partition whose next offsets are deleted: "t partition 0 offsets 3-7"."""
        with self._consumer("read_uncommitted") as consumer:
            places = [(topic, int(number), at) for topic, ends in next_offsets.items() for number, at in ends.items()]
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
    """The partitions of a topic; empty when it does not exist."""
    return sorted(consumer.list_topics(topic, WITHIN).topics[topic].partitions)


def _ends(consumer: Any, topic: str, partition: int) -> tuple[int, int]:
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), WITHIN)
    return int(low), int(high)


def _messages(consumer: Any, topic: str, partition: int, start: int, end: int) -> Iterator[Any]:
    """The records of a partition from `start` to before `end`; TimeoutError when the brokers do not answer."""
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
