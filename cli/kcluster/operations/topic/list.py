"""`topic list`: every topic in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import TopicState, of_wire
from kcluster.errors import KclusterError
from kcluster.results import Block, Cell, Grid, Result, Tone


@dataclass(frozen=True)
class TopicList(Result):
    """Every topic in one line."""

    topics: Sequence[TopicState]

    def data(self) -> Any:
        """One object per topic."""
        return [
            {
                "name": topic.name,
                "internal": topic.internal,
                "partitions": len(topic.partitions),
                "replication_factor": topic.replication_factor,
                "under_replicated": sum(part.under_replicated for part in topic.partitions),
                "offline": sum(part.leader is None for part in topic.partitions),
            }
            for topic in self.topics
        ]

    def view(self) -> Iterable[Block]:
        """Name, numbers and state of each."""
        if not self.topics:
            yield "no topics; create one: kcluster topic create NAME"
        rows = [
            (row["name"], str(row["partitions"]), str(row["replication_factor"]), _state(row)) for row in self.data()
        ]
        yield Grid(("TOPIC", "PARTITIONS", "REPLICATION", "STATE"), rows)


def _state(row: Mapping[str, int]) -> Cell:
    if row["offline"]:
        return Cell(f"{row['offline']} offline", Tone.BAD)
    if row["under_replicated"]:
        return Cell(f"{row['under_replicated']} under-replicated", Tone.WARN)
    return Cell("ok", Tone.GOOD)


def listing(kafka: Kafka, *, internal: bool = False) -> TopicList:
    """The topics of the cluster, from one request."""
    states = _quickly(kafka)
    if states is None:
        states = topics.topics(kafka)
    return TopicList([topic for topic in states.values() if internal or not topic.internal])


QUICKLY = 0.5
"""Seconds in which a healthy broker answers; after that librdkafka tries all addresses."""


def _quickly(kafka: Kafka) -> dict[str, TopicState] | None:
    """The topics from the first bootstrap address over the wire: importing librdkafka takes longer than that.

    None when there is no answer within QUICKLY.
    """
    from kcluster.clients import wire

    host, _, port = kafka.bootstrap.split(",")[0].strip().rpartition(":")
    try:
        return of_wire(wire.metadata(host.strip("[]"), int(port), kafka.config, within=QUICKLY).topics)
    except (KclusterError, ValueError):
        return None
