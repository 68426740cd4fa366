"""`group list`: every consumer group in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, groups
from kcluster.clients.kafka.groups import ConsumerGroup
from kcluster.results import Block, Cell, Grid, Result, Tone

STATE_TONES = {"Stable": Tone.GOOD, "Empty": Tone.DIM, "Dead": Tone.BAD}


@dataclass(frozen=True)
class GroupList(Result):
    """Every group in one line."""

    groups: Sequence[ConsumerGroup]

    def data(self) -> Any:
        """One object per group."""
        return [
            {
                "name": group.name,
                "state": group.state,
                "type": group.type,
                "members": len(group.members),
                "coordinator": group.coordinator_id,
            }
            for group in self.groups
        ]

    def view(self) -> Iterable[Block]:
        """Name, state, members, coordinator."""
        if not self.groups:
            yield "no consumer groups"
        rows = [
            (group.name, _state(group), group.type, str(len(group.members)), str(group.coordinator_id))
            for group in self.groups
        ]
        yield Grid(("GROUP", "STATE", "TYPE", "MEMBERS", "COORDINATOR"), rows)


def _state(group: ConsumerGroup) -> Cell:
    return Cell(group.state, STATE_TONES.get(group.state, Tone.WARN))


def listing(kafka: Kafka) -> GroupList:
    """The groups of the cluster with their states."""
    return GroupList(groups.groups(kafka, groups.names(kafka)))
