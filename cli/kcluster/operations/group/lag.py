"""How far groups are: committed and end offset of each partition, and the records between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.groups import GroupMember, Place


@dataclass(frozen=True)
class GroupPosition:
    """How far a group is in one partition."""

    topic: str
    partition: int
    committed: int | None
    """None while the group never committed there."""
    end: int | None
    """The next offset to be written; None when the partition has no leader."""
    member: GroupMember | None

    @property
    def lag(self) -> int | None:
        """Records not yet read; unknown while nothing was committed, as in Kafka's own tool."""
        if self.committed is None or self.end is None:
            return None
        return max(self.end - self.committed, 0)


def positions(
    committed: Mapping[Place, int], holders: Mapping[Place, GroupMember], ends: Mapping[Place, int]
) -> list[GroupPosition]:
    """One position per partition that was committed in or is assigned, in order."""
    return [
        GroupPosition(*place, committed.get(place), ends.get(place), holders.get(place))
        for place in sorted(committed.keys() | holders.keys())
    ]


def total(positions: Iterable[GroupPosition]) -> int | None:
    """The lag of all partitions where it is known; None where it is nowhere."""
    known = [position.lag for position in positions if position.lag is not None]
    return sum(known) if known else None


def ends(kafka: Kafka, places: Iterable[Place], where: str | int = "latest") -> dict[Place, int]:
    """The offset of each of these partitions at `where`; those without a leader are left out."""
    from confluent_kafka import TopicPartition

    states = topics.topics(kafka)
    led = {(state.name, part.id) for state in states.values() for part in state.partitions if part.leader is not None}
    return topics.offsets(kafka, [TopicPartition(*place) for place in places if place in led], where)


def number(value: int | None) -> str:
    """A number, or `-` when there is none."""
    return "-" if value is None else str(value)
