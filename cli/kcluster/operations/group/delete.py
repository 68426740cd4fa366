"""`group delete`: groups without members, with their committed offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, groups
from kcluster.clients.kafka.groups import ConsumerGroup, Place
from kcluster.clients.kafka.topic_names import unknown
from kcluster.operations.group.list import state_cell
from kcluster.operations.group.reset import require_idle
from kcluster.results import Block, Cell, Grid, Result, Tone


@dataclass(frozen=True)
class GroupDeletion(Result):
    """The groups to delete, before or after they are deleted."""

    groups: Sequence[ConsumerGroup]
    committed: Mapping[str, Mapping[Place, int]]
    done: bool = False

    def data(self) -> Any:
        """One object per group."""
        listed = [
            {"name": group.name, "state": group.state, "committed_offsets": len(self.committed[group.name])}
            for group in self.groups
        ]
        return {"done": self.done, "groups": listed}

    def view(self) -> Iterable[Block]:
        """What is lost with each group; once they are deleted, their names."""
        if self.done:
            yield Cell(f"deleted {', '.join(group.name for group in self.groups)}", Tone.GOOD)
            return
        rows = [
            (group.name, state_cell(group), str(len(offsets)), ", ".join(dict.fromkeys(topic for topic, _ in offsets)))
            for group in self.groups
            for offsets in [self.committed[group.name]]
        ]
        yield Grid(("GROUP", "STATE", "COMMITTED OFFSETS", "TOPICS"), rows)


def plan(kafka: Kafka, names: Sequence[str]) -> GroupDeletion:
    """The groups to delete; raises UsageError for an unknown one and RefusedError for one with members."""
    wanted, known = list(dict.fromkeys(names)), groups.names(kafka)
    for name in wanted:
        if name not in known:
            raise unknown("consumer group", name, known, "kcluster group list")
    idle = [require_idle(group, "deleted") for group in groups.groups(kafka, wanted)]
    return GroupDeletion(idle, groups.committed(kafka, wanted))


def delete(kafka: Kafka, planned: GroupDeletion) -> GroupDeletion:
    """Delete them; raises RefusedError when one has got a member since."""
    groups.delete(kafka, [group.name for group in planned.groups])
    return GroupDeletion(planned.groups, planned.committed, done=True)
