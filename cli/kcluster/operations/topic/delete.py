"""`topic delete`: topics with all their records."""

from __future__ import annotations

from collections.abc import Sequence

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.results import Message, counted


def losses(kafka: Kafka, names: Sequence[str]) -> dict[str, str]:
    """The topics to delete, each with its partitions and records; raises RefusedError for a wrong name."""
    for name in names:
        topic_names.not_internal(name, "delete")
    states = topics.with_offsets(kafka, topic_names.pick(topics.topics(kafka), names))
    return {state.name: _loss(state) for state in states}


def _loss(topic: TopicState) -> str:
    known = [part.end - part.start for part in topic.partitions if part.end is not None and part.start is not None]
    unknown = len(topic.partitions) - len(known)
    records = counted(sum(known), "record")
    if unknown:
        records = f"at least {records}, {counted(unknown, 'partition')} without a leader"
    return f"{counted(len(topic.partitions), 'partition')}, {records}"


def delete(kafka: Kafka, names: Sequence[str]) -> Message:
    """Delete them, and wait until every broker has removed them."""
    topics.delete(kafka, names)
    gone = kafka.until(lambda: not any(view.keys() & set(names) for view in topics.by_each_broker(kafka)) or None)
    return Message(
        f"deleted {', '.join(names)}" + ("" if gone else " (the brokers have not removed it everywhere yet)")
    )
