"""Questions and changes about topics, through one Kafka connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kcluster.clients.kafka.connection import ANSWER_WITHIN, Kafka
from kcluster.errors import KclusterError, RefusedError, UnreachableError

if TYPE_CHECKING:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin._metadata import BrokerMetadata, ClusterMetadata

    from kcluster.clients.wire import PartitionState

_AT_ONCE = 16
_GONE_WITHIN = 20.0
"""Seconds a topic that was deleted may take to go, before one of its name is made."""


@dataclass(frozen=True)
class Partition:
    """One partition as the cluster sees it now."""

    id: int
    leader: int | None
    replicas: tuple[int, ...]
    """The preferred leader first."""
    isr: tuple[int, ...]
    offline: tuple[int, ...] = ()
    """Replicas on brokers that are not there."""
    start: int | None = None
    end: int | None = None

    @property
    def under_replicated(self) -> bool:
        """Whether a replica is behind or gone."""
        return len(self.isr) < len(self.replicas)


@dataclass(frozen=True)
class TopicState:
    """One topic as the cluster sees it now."""

    name: str
    partitions: tuple[Partition, ...]
    config: Mapping[str, str] | None = field(default_factory=dict)
    """What was set for this topic; None when we may not read it."""
    min_isr: int | None = None

    @property
    def internal(self) -> bool:
        """Whether Kafka keeps it for itself."""
        return self.name.startswith("__")

    @property
    def replication_factor(self) -> int:
        """The replicas of a partition (the most, while a reassignment runs)."""
        return max((len(partition.replicas) for partition in self.partitions), default=0)

    def under_min_isr(self, partition: Partition) -> bool:
        """Whether acks=all producers are refused."""
        return self.min_isr is not None and len(partition.isr) < min(self.min_isr, len(partition.replicas))

    def at_min_isr(self, partition: Partition) -> bool:
        """Whether acks=all producers would be refused with one in-sync replica less."""
        return self.min_isr is not None and len(partition.isr) == min(self.min_isr, len(partition.replicas))


def topics(kafka: Kafka, *, within: float = ANSWER_WITHIN) -> dict[str, TopicState]:
    """Every topic with its partitions, by name, from one question to one broker."""
    return of_metadata(kafka.metadata(within=within))


def by_each_broker(kafka: Kafka) -> list[dict[str, TopicState]]:
    """Every topic as each broker that answers knows it: news reaches them one after the other."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = pool.map(lambda broker: _told_by(broker, kafka), kafka.metadata().brokers.values())
        return [view for view in told if view is not None]


def _told_by(broker: BrokerMetadata, kafka: Kafka) -> dict[str, TopicState] | None:
    host = f"[{broker.host}]" if ":" in str(broker.host) else broker.host
    try:
        # A client of its own knows no other address, so it is this broker that gives the first answer.
        return topics(Kafka(f"{host}:{broker.port}", kafka.config), within=3.0)
    except (UnreachableError, RefusedError):
        return None


def of_metadata(metadata: ClusterMetadata) -> dict[str, TopicState]:
    """Every topic that metadata tells of, by name."""
    alive = set(metadata.brokers)
    return {name: _state(name, topic, alive) for name, topic in sorted(metadata.topics.items())}


def of_wire(topics: Mapping[str, Sequence[PartitionState]]) -> dict[str, TopicState]:
    """Every topic that the small client was told of, by name."""
    return {name: TopicState(name, tuple(map(_of_wire, parts))) for name, parts in sorted(topics.items())}


def _of_wire(part: PartitionState) -> Partition:
    return Partition(part.id, None if part.leader < 0 else part.leader, part.replicas, part.isr, part.offline)


def ids(kafka: Kafka, names: Sequence[str]) -> dict[str, str]:
    """The id that each topic got when it was created; none of brokers that give none."""
    from confluent_kafka import TopicCollection, Uuid

    answers = kafka.wait_each(kafka.admin.describe_topics(TopicCollection(list(names)), request_timeout=10))
    return {name: str(told.topic_id) for name, told in answers.items() if told.topic_id not in (None, Uuid(0, 0))}


def racks(kafka: Kafka) -> dict[int, str]:
    """The rack of each broker; empty where none is set."""
    nodes = kafka.wait(kafka.admin.describe_cluster(request_timeout=10)).nodes
    return {node.id: node.rack or "" for node in nodes}


def with_config(
    kafka: Kafka, states: Sequence[TopicState], *, broker: int | None = None, within: float = 10.0
) -> list[TopicState]:
    """The topics with what was set for them and their min.insync.replicas.

    Without a broker to ask, the controller is asked, which may be the one that just died.
    """
    from confluent_kafka.admin import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.TOPIC, state.name) for state in states]
    if not resources:
        return []
    options = {} if broker is None else {"broker": broker}
    answers = kafka.admin.describe_configs(resources, request_timeout=within, **options)
    return [_configured(kafka, state, answers[key]) for state, key in zip(states, resources, strict=True)]


def property_names(kafka: Kafka) -> list[str]:
    """Every topic property these brokers know, as they tell it of any topic; nothing while there is none."""
    from confluent_kafka.admin import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.TOPIC, name) for name in list(topics(kafka))[:1]]
    answers = kafka.wait_each(kafka.admin.describe_configs(resources, request_timeout=10)) if resources else {}
    return [name for entries in answers.values() for name in entries]


def with_offsets(kafka: Kafka, states: Sequence[TopicState]) -> list[TopicState]:
    """The topics with the first and the next offset of each partition that has a leader."""
    from confluent_kafka import TopicPartition

    asked = [
        TopicPartition(state.name, part.id) for state in states for part in state.partitions if part.leader is not None
    ]
    starts, ends = offsets(kafka, asked, "earliest"), offsets(kafka, asked, "latest")
    return [
        replace(
            state,
            partitions=tuple(
                replace(part, start=starts.get((state.name, part.id)), end=ends.get((state.name, part.id)))
                for part in state.partitions
            ),
        )
        for state in states
    ]


def offsets(kafka: Kafka, asked: Iterable[TopicPartition], where: str | int) -> dict[tuple[str, int], int]:
    """The offset of each partition at `earliest`, `latest` or a time in ms; none when it cannot be had."""
    from confluent_kafka.admin import OffsetSpec

    named: dict[str | int, Any] = {"earliest": OffsetSpec.earliest, "latest": OffsetSpec.latest}
    chosen = named[where]() if where in named else OffsetSpec.for_timestamp(int(where))
    partitions = dict.fromkeys(asked, chosen)
    if not partitions:
        return {}
    found = {}
    for part, future in kafka.admin.list_offsets(partitions, request_timeout=10).items():
        try:
            found[part.topic, part.partition] = kafka.wait(future).offset
        except KclusterError:
            continue  # a leader that is just moving: the offset shows as unknown
    return found


def create(
    kafka: Kafka, name: str, partitions: int, replication: int, config: Mapping[str, str], *, check: bool = False
) -> None:
    """Create a topic; -1 leaves a number to the brokers' default. `check` only asks whether the cluster would.

    One of the same name that is being deleted is waited for: its name is free only when every broker has removed it.
    """
    from confluent_kafka.admin import NewTopic

    topic = NewTopic(name, num_partitions=partitions, replication_factor=replication, config=dict(config))

    def made() -> bool | None:
        try:
            kafka.wait_each(kafka.admin.create_topics([topic], validate_only=check, request_timeout=30))
        except RefusedError as problem:
            if "marked for deletion" in problem.message:
                return None
            raise
        return True

    if not kafka.until(made, _GONE_WITHIN):
        raise RefusedError(
            f"an older topic {name} is still being deleted after {_GONE_WITHIN:.0f} s",
            details="a broker that has a part of it may be away",
            resolution="start what does not run, see kcluster health, then run it again",
        )


def delete(kafka: Kafka, names: Sequence[str]) -> None:
    """Delete topics with their data."""
    kafka.wait_each(kafka.admin.delete_topics(list(names), operation_timeout=10, request_timeout=30))


def grow(kafka: Kafka, name: str, partitions: int, *, check: bool = False) -> None:
    """Give a topic more partitions. `check` only asks whether the cluster would."""
    from confluent_kafka.admin import NewPartitions

    wanted = NewPartitions(name, partitions)
    kafka.wait_each(kafka.admin.create_partitions([wanted], validate_only=check, request_timeout=30))


def configure(
    kafka: Kafka, name: str, put: Mapping[str, str], unset: Iterable[str] = (), *, check: bool = False
) -> None:
    """Set and unset properties of a topic, leaving the others alone. `check` only asks whether the cluster would."""
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in put.items()]
    entries += [ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE) for key in unset]
    resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
    kafka.wait_each(kafka.admin.incremental_alter_configs([resource], validate_only=check, request_timeout=30))


def _state(name: str, topic: Any, alive: set[int]) -> TopicState:
    partitions = (_partition(part, alive) for _, part in sorted(topic.partitions.items()))
    return TopicState(name, tuple(partitions))


def _partition(part: Any, alive: set[int]) -> Partition:
    return Partition(
        id=part.id,
        leader=None if part.leader < 0 else part.leader,
        replicas=tuple(part.replicas),
        isr=tuple(part.isrs),
        offline=tuple(broker for broker in part.replicas if broker not in alive),
    )


def _configured(kafka: Kafka, state: TopicState, answer: Any) -> TopicState:
    from confluent_kafka.admin import ConfigSource

    try:
        entries = kafka.wait(answer).values()
    except RefusedError:
        return replace(state, config=None)  # describing a topic does not need the right to read its configuration
    own = {entry.name: entry.value for entry in entries if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value}
    least = next((entry.value for entry in entries if entry.name == "min.insync.replicas"), None)
    return replace(state, config=dict(sorted(own.items())), min_isr=int(least) if least else None)


def wait_until_led(kafka: Kafka, fresh: Mapping[str, int]) -> dict[str, TopicState]:
    """Wait until every broker knows leaders for these topics, so that the next command finds them whomever it asks.

    Each name comes with the number of partitions it must have at least.
    """
    found = kafka.until(lambda: _led(topics(kafka), fresh))
    if not (found and kafka.until(lambda: all(_led(view, fresh) for view in by_each_broker(kafka)) or None)):
        raise RefusedError(
            f"{', '.join(sorted(fresh))}: not every partition has got a leader yet",
            resolution="kcluster topic describe " + " ".join(sorted(fresh)),
        )
    return found


def _led(states: Mapping[str, TopicState], fresh: Mapping[str, int]) -> dict[str, TopicState] | None:
    """These topics, when they are there with all their partitions, and each of those has a leader."""
    found = {name: states[name] for name in fresh if name in states}
    led = (
        len(state.partitions) >= max(1, fresh[name]) and all(part.leader is not None for part in state.partitions)
        for name, state in found.items()
    )
    return found if len(found) == len(fresh) and all(led) else None
