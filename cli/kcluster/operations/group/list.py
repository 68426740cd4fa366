"""`group list`: every consumer group in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, groups
from kcluster.clients.kafka.groups import ConsumerGroup
from kcluster.operations.group.lag import ends, number, positions, total
from kcluster.results import Block, Cell, Grid, Result, Tone

STATE_TONES = {"Stable": Tone.GOOD, "Empty": Tone.DIM, "Dead": Tone.BAD}


@dataclass(frozen=True)
class GroupList(Result):
    """Every group in one line."""

    groups: Sequence[ConsumerGroup]
    lags: Mapping[str, int | None]
    """The total lag of each; None without a committed offset."""

    def data(self) -> Any:
        """One object per group."""
        return [
            {
                "name": group.name,
                "state": group.state,
                "type": group.type,
                "members": len(group.members),
                "coordinator": group.coordinator_id,
                "lag": self.lags[group.name],
            }
            for group in self.groups
        ]

    def view(self) -> Iterable[Block]:
        """Name, state, members, coordinator, lag."""
        if not self.groups:
            yield "no consumer groups"
        rows = [
            (
                group.name,
                state_cell(group),
                group.type,
                str(len(group.members)),
                str(group.coordinator_id),
                number(self.lags[group.name]),
            )
            for group in self.groups
        ]
        yield Grid(("GROUP", "STATE", "TYPE", "MEMBERS", "COORDINATOR", "LAG"), rows)


def state_cell(group: ConsumerGroup) -> Cell:
    """A group's state in its colour."""
    return Cell(group.state, STATE_TONES.get(group.state, Tone.WARN))


def listing(kafka: Kafka) -> GroupList:
    """The groups of the cluster with their states and lags."""
    names = groups.names(kafka)
    committed = groups.committed(kafka, names)
    latest = ends(kafka, {place for offsets in committed.values() for place in offsets})
    lags = {name: total(positions(offsets, {}, latest)) for name, offsets in committed.items()}
    return GroupList(groups.groups(kafka, names), lags)
