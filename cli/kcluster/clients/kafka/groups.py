"""Questions and changes about consumer groups, through one Kafka connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka.connection import Kafka

Place = tuple[str, int]
"""A topic and a partition."""


@dataclass(frozen=True)
class GroupMember:
    """One consumer of a group."""

    member_id: str
    client_id: str
    host: str
    instance_id: str
    assignment: tuple[Place, ...]


@dataclass(frozen=True)
class ConsumerGroup:
    """A consumer group as its coordinator sees it."""

    name: str
    state: str
    """As Kafka spells it: Stable, Empty, PreparingRebalance, ..."""
    type: str
    """Classic or consumer."""
    assignor: str
    coordinator_id: int | None
    coordinator: str
    members: tuple[GroupMember, ...]

    @property
    def active(self) -> bool:
        """Whether members hold its partitions, so that its offsets must not be moved."""
        return bool(self.members) or self.state not in ("Empty", "Dead")


def names(kafka: Kafka) -> list[str]:
    """Every consumer group."""
    return sorted(listing.group_id for listing in _listings(kafka))


def groups(kafka: Kafka, wanted: Sequence[str]) -> list[ConsumerGroup]:
    """The groups of these names, in that order."""
    if not wanted:
        return []
    answers = kafka.wait_each(kafka.admin.describe_consumer_groups(list(wanted), request_timeout=10))
    return [_group(name, answers[name]) for name in wanted]


def committed(kafka: Kafka, wanted: Sequence[str]) -> dict[str, dict[Place, int]]:
    """The offsets each of these groups has committed, all asked at the same time."""
    from confluent_kafka import ConsumerGroupTopicPartitions

    asked: dict[str, Any] = {}
    for name in wanted:  # one in each request: librdkafka takes no more
        asked |= kafka.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)], request_timeout=10)
    return {
        name: {(part.topic, part.partition): part.offset for part in answer.topic_partitions if part.offset >= 0}
        for name, answer in kafka.wait_each(asked).items()
    }


def commit(kafka: Kafka, name: str, offsets: Mapping[Place, int]) -> None:
    """Set the committed offsets of a group without members."""
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

    places = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
    asked = [ConsumerGroupTopicPartitions(name, places)]
    answer = kafka.wait_each(kafka.admin.alter_consumer_group_offsets(asked, request_timeout=10))[name]
    for part in answer.topic_partitions:
        if part.error:
            raise kafka.translate(KafkaException(part.error))


def delete(kafka: Kafka, wanted: Sequence[str]) -> None:
    """Delete groups without members, with their committed offsets."""
    kafka.wait_each(kafka.admin.delete_consumer_groups(list(wanted), request_timeout=10))


def _listings(kafka: Kafka) -> list[Any]:
    kafka.metadata()  # finds out whether the cluster answers at all, in seconds
    return list(kafka.wait(kafka.admin.list_consumer_groups(request_timeout=10)).valid)


def _group(name: str, answer: Any) -> ConsumerGroup:
    node = answer.coordinator
    return ConsumerGroup(
        name=name,
        state=_word(answer.state),
        type=_word(answer.type),
        assignor=answer.partition_assignor,
        coordinator_id=node.id if node else None,
        coordinator=f"{node.host}:{node.port}" if node else "",
        members=tuple(_member(member) for member in answer.members),
    )


def _member(answer: Any) -> GroupMember:
    places = ((part.topic, part.partition) for part in answer.assignment.topic_partitions)
    return GroupMember(
        answer.member_id,
        answer.client_id,
        answer.host.lstrip("/"),
        answer.group_instance_id or "",
        tuple(sorted(places)),
    )


def _word(value: Any) -> str:
    """PREPARING_REBALANCING as PreparingRebalancing, the way Kafka's own tools write it."""
    return "".join(part.capitalize() for part in str(value.name).split("_"))
