"""`group describe`: members, assignments, and the lag of each partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, groups
from kcluster.clients.kafka.groups import ConsumerGroup, GroupMember
from kcluster.clients.kafka.topic_names import unknown
from kcluster.operations.group.lag import GroupPosition, ends, number, positions, total
from kcluster.operations.group.list import STATE_TONES
from kcluster.results import Block, Cell, Grid, Result, Tone, counted


@dataclass(frozen=True)
class GroupDescription(Result):
    """One group: its members and its position in each partition."""

    group: ConsumerGroup
    positions: Sequence[GroupPosition]

    @property
    def total_lag(self) -> int:
        """The lag of all partitions where it is known."""
        return total(self.positions) or 0

    def data(self) -> Any:
        """The group, with one object per member and one per partition."""
        return {
            "name": self.group.name,
            "state": self.group.state,
            "type": self.group.type,
            "assignor": self.group.assignor,
            "coordinator": {"id": self.group.coordinator_id, "address": self.group.coordinator},
            "total_lag": self.total_lag,
            "members": [_member(member) for member in self.group.members],
            "partitions": [_position(position) for position in self.positions],
        }

    def view(self) -> Iterable[Block]:
        """A headline, the partitions, the members."""
        group = self.group
        yield Cell(
            f"{group.name}: {group.state}, {counted(len(group.members), 'member')}, total lag {self.total_lag}, "
            f"coordinator {group.coordinator_id} ({group.coordinator})",
            STATE_TONES.get(group.state, Tone.WARN),
        )
        columns = ("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "CLIENT", "HOST", "MEMBER")
        yield Grid(columns, [_row(position) for position in self.positions])
        if idle := [member for member in group.members if not member.assignment]:
            yield "members without a partition:"
            yield Grid(("CLIENT", "HOST", "MEMBER"), [(m.client_id, m.host, m.member_id) for m in idle])


def _member(member: GroupMember) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "client_id": member.client_id,
        "host": member.host,
        "instance_id": member.instance_id,
        "assignment": [{"topic": topic, "partition": number} for topic, number in member.assignment],
    }


def _position(position: GroupPosition) -> dict[str, Any]:
    return {
        "topic": position.topic,
        "partition": position.partition,
        "committed": position.committed,
        "end_offset": position.end,
        "lag": position.lag,
        "member_id": position.member.member_id if position.member else None,
    }


def _row(position: GroupPosition) -> list[str | Cell]:
    member, lag = position.member, position.lag
    return [
        position.topic,
        str(position.partition),
        number(position.committed),
        number(position.end),
        Cell(number(lag), Tone.WARN if lag else Tone.PLAIN),
        member.client_id if member else "",
        member.host if member else "",
        member.member_id if member else "",
    ]


def find(kafka: Kafka, name: str) -> ConsumerGroup:
    """The group of that name; raises UsageError with similar names."""
    known = groups.names(kafka)
    if name not in known:
        raise unknown("consumer group", name, known, "kcluster group list")
    return groups.groups(kafka, [name])[0]


def describe(kafka: Kafka, name: str) -> GroupDescription:
    """The group with every partition it has committed in or is assigned to."""
    group = find(kafka, name)
    committed = groups.committed(kafka, [name])[name]
    holders = {place: member for member in group.members for place in member.assignment}
    return GroupDescription(group, positions(committed, holders, ends(kafka, committed.keys() | holders.keys())))
