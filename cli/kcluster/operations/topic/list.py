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
                "under_min_isr": _under_min_isr(topic),
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


_FAULTS = {
    "offline": ("offline", Tone.BAD),
    "under_min_isr": ("under min ISR", Tone.BAD),
    "under_replicated": ("under-replicated", Tone.WARN),
}
"""What `_state` counts, the worst first."""


def _state(row: Mapping[str, int]) -> Cell:
    """The number of partitions with each fault, in the colour of the worst."""
    found = [(f"{row[key]} {words}", tone) for key, (words, tone) in _FAULTS.items() if row[key]]
    return Cell(", ".join(words for words, _ in found), found[0][1]) if found else Cell("ok", Tone.GOOD)


def _under_min_isr(topic: TopicState) -> int | None:
    """The partitions that refuse acks=all; None where min.insync.replicas could not be read."""
    behind = [part for part in topic.partitions if part.under_replicated]
    if behind and topic.min_isr is None:
        return None
    return sum(topic.under_min_isr(part) for part in behind)


def listing(kafka: Kafka, *, internal: bool = False) -> TopicList:
    """The topics of the cluster, from one request; from another one the min.insync.replicas of those not in sync."""
    states = _quickly(kafka)
    if states is None:
        states = topics.topics(kafka)
    behind = [topic for topic in states.values() if any(part.under_replicated for part in topic.partitions)]
    states |= {topic.name: topic for topic in _with_min_isr(kafka, behind)}
    return TopicList([topic for topic in states.values() if internal or not topic.internal])


def _with_min_isr(kafka: Kafka, behind: Sequence[TopicState]) -> Sequence[TopicState]:
    """These topics with their min.insync.replicas; without, when no broker tells it in time."""
    if not behind:
        return behind  # the usual case pays nothing
    try:
        return topics.with_config(kafka, behind, within=CONFIG_WITHIN)
    except KclusterError:
        return behind


CONFIG_WITHIN = 3.0
"""Seconds that the list waits for min.insync.replicas: the controller that is asked may be the broker that is away."""


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
