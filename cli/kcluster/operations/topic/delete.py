"""`topic delete`: topics with all their records."""

from __future__ import annotations

from collections.abc import Sequence

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.results import Message


def doomed(kafka: Kafka, wanted: Sequence[str]) -> list[tuple[str, str]]:
    """The topics that would go, each with what is lost; none of it happens here."""
    for name in wanted:
        topic_names.not_internal(name, "delete")
    chosen = topics.with_offsets(kafka, topic_names.pick(topics.topics(kafka), wanted))
    return [(topic.name, _loss(topic)) for topic in chosen]


def _loss(topic: TopicState) -> str:
    known = [part.end - part.start for part in topic.partitions if part.end is not None and part.start is not None]
    unknown = len(topic.partitions) - len(known)
    records = f"at least {sum(known)} records, {unknown} cannot be asked," if unknown else f"{sum(known)} records"
    partitions = "1 partition" if len(topic.partitions) == 1 else f"{len(topic.partitions)} partitions"
    return f"{partitions} with {records} are deleted."


def delete(kafka: Kafka, wanted: Sequence[str]) -> Message:
    """Delete them and wait until every broker has forgotten them."""
    topics.delete(kafka, wanted)
    gone = kafka.until(lambda: not any(view.keys() & set(wanted) for view in topics.by_each_broker(kafka)) or None)
    return Message(f"deleted {', '.join(wanted)}" + ("" if gone else " (the brokers are still at it)"))
