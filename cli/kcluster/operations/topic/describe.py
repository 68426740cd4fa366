"""`topic describe`: topics with their partitions, and what is wrong with each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.results import Block, Cell, Grid, Result, Tone, counted


class TopicFault(StrEnum):
    """What can be wrong with a partition, the worst first."""

    OFFLINE = "offline"
    UNDER_MIN_ISR = "under min ISR"
    UNDER_REPLICATED = "under-replicated"
    NOT_PREFERRED = "not the preferred leader"
    AT_MIN_ISR = "at min ISR"
    """Only to select by: with as few replicas as min.insync.replicas it is no fault."""


TONES = {TopicFault.OFFLINE: Tone.BAD, TopicFault.UNDER_MIN_ISR: Tone.BAD, TopicFault.UNDER_REPLICATED: Tone.WARN}


def faults(topic: TopicState, part: Partition) -> list[TopicFault]:
    """What is wrong with a partition, the worst first."""
    found = {
        TopicFault.OFFLINE: part.leader is None,
        TopicFault.UNDER_MIN_ISR: topic.under_min_isr(part),
        TopicFault.UNDER_REPLICATED: part.under_replicated,
        TopicFault.NOT_PREFERRED: part.leader is not None and part.leader != part.replicas[0],
    }
    return [fault for fault, present in found.items() if present]


def _selected(only: Sequence[TopicFault], topic: TopicState, part: Partition) -> bool:
    at_min_isr = [TopicFault.AT_MIN_ISR] if topic.at_min_isr(part) else []
    return bool(set(only) & {*faults(topic, part), *at_min_isr})


@dataclass(frozen=True)
class Description(Result):
    """Topics with each of their partitions."""

    topics: Sequence[TopicState]
    racks: Mapping[int, str]
    sizes: Mapping[tuple[str, int], int]
    only: Sequence[TopicFault] = ()
    """Show only the partitions that have one of these faults."""

    def _shown(self) -> list[tuple[TopicState, list[Partition]]]:
        chosen = [(topic, [part for part in topic.partitions if self._wanted(topic, part)]) for topic in self.topics]
        return [(topic, parts) for topic, parts in chosen if parts]

    def _wanted(self, topic: TopicState, part: Partition) -> bool:
        return not self.only or _selected(self.only, topic, part)

    def data(self) -> Any:
        """One object per topic, each with one object per partition."""
        return [
            {
                "name": topic.name,
                "internal": topic.internal,
                "replication_factor": topic.replication_factor,
                "min_isr": topic.min_isr,
                "config": topic.config,
                "partitions": [self._partition(topic, part) for part in parts],
            }
            for topic, parts in self._shown()
        ]

    def _partition(self, topic: TopicState, part: Partition) -> dict[str, Any]:
        return {
            "partition": part.id,
            "leader": part.leader,
            "replicas": part.replicas,
            "isr": part.isr,
            "offline_replicas": part.offline,
            "racks": [self.racks.get(broker, "") for broker in part.replicas],
            "start_offset": part.start,
            "end_offset": part.end,
            "size_bytes": self.sizes.get((topic.name, part.id)),
            "faults": faults(topic, part),
        }

    def view(self) -> Iterable[Block]:
        """A headline and a table for each topic."""
        shown = self._shown()
        if not shown:
            wanted = " or ".join(self.only)
            yield Cell(f"no partition is {wanted}" if self.only else "no topics", Tone.GOOD)
        for topic, parts in shown:
            yield from _headline(topic)
            yield Grid(_COLUMNS, [self._row(topic, part) for part in parts])

    def _row(self, topic: TopicState, part: Partition) -> list[str | Cell]:
        wrong = faults(topic, part)
        racks = [self.racks.get(broker, "") for broker in part.replicas]
        size = self.sizes.get((topic.name, part.id))
        return [
            str(part.id),
            Cell("none", Tone.BAD) if part.leader is None else str(part.leader),
            _ids(part.replicas),
            _ids(part.isr),
            Cell(_ids(part.offline), Tone.BAD),
            ",".join(racks) if any(racks) else "",
            "-" if part.start is None else str(part.start),
            "-" if part.end is None else str(part.end),
            "-" if size is None else in_bytes(size),
            Cell(", ".join(wrong), TONES.get(wrong[0], Tone.DIM)) if wrong else Cell("ok", Tone.GOOD),
        ]


def in_bytes(size: float) -> str:
    """A number of bytes with its unit: 1.4 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


_COLUMNS = ("PARTITION", "LEADER", "REPLICAS", "ISR", "OFFLINE", "RACKS", "START", "END", "SIZE", "STATE")


def _headline(topic: TopicState) -> Iterable[Block]:
    least = "" if topic.min_isr is None else f", min ISR {topic.min_isr}"
    partitions = counted(len(topic.partitions), "partition")
    yield f"{topic.name}: {partitions}, replication factor {topic.replication_factor}{least}"
    if topic.config is None:
        yield Cell("  no permission to read its config", Tone.WARN)
    for key, value in (topic.config or {}).items():
        yield f"  {key}={value}"


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(str(broker) for broker in brokers)


def describe(
    kafka: Kafka, wanted: Sequence[str] = (), *, internal: bool = False, only: Sequence[TopicFault] = ()
) -> Description:
    """The topics of these names, or all; with `only`, the partitions that have one of these faults."""
    from kcluster.facts.brokers import ask_all, sizes_of

    known = topics.topics(kafka)
    everything = [topic for topic in known.values() if internal or only or not topic.internal]
    chosen = topic_names.pick(known, wanted) if wanted else everything
    if only and not {TopicFault.UNDER_MIN_ISR, TopicFault.AT_MIN_ISR} & set(only):
        chosen = [topic for topic in chosen if any(_selected(only, topic, part) for part in topic.partitions)]
    chosen = topics.with_offsets(kafka, topics.with_config(kafka, chosen))
    metadata = kafka.metadata()
    answers = ask_all(metadata, kafka.config)
    leaders = {(topic.name, part.id): part.leader for topic in chosen for part in topic.partitions}
    return Description(chosen, topics.racks(kafka), sizes_of(leaders, answers), only)
