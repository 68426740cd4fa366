"""`broker list` and `broker config`: the brokers of a cluster, and the effective config of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kcluster.clients import wire
from kcluster.clients.kafka import Kafka, brokers, topics
from kcluster.errors import KclusterError, UsageError
from kcluster.facts.brokers import Answers, ask_all, release_of
from kcluster.operations.topic.describe import in_bytes
from kcluster.results import Block, Cell, Grid, Result, Tone, counted, enumerated

if TYPE_CHECKING:
    from confluent_kafka.admin._metadata import ClusterMetadata

HIDDEN = "********"


@dataclass(frozen=True)
class BrokerRow:
    """One broker."""

    id: int
    address: str
    """Empty when the broker is not registered but holds replicas."""
    rack: str
    controller: bool | None
    version: str | None
    partitions: int
    leaders: int
    size_bytes: int | None


@dataclass(frozen=True)
class BrokerList(Result):
    """Every broker, and the controller."""

    cluster_id: str
    brokers: Sequence[BrokerRow]
    quorum_leader: int | None = None
    """The active KRaft controller; None with ZooKeeper, or when it is unknown."""

    def view(self) -> Iterable[Block]:
        """A row for each broker; in KRaft mode a line about the controllers."""
        columns = ("BROKER", "ADDRESS", "RACK", "CONTROLLER", "VERSION", "PARTITIONS", "LEADERS", "SIZE")
        yield Grid(columns, [_row(row) for row in self.brokers])
        if self.quorum_leader is not None:
            yield f"controller {self.quorum_leader} leads the KRaft quorum"


def _row(row: BrokerRow) -> list[str | Cell]:
    return [
        str(row.id),
        row.address or Cell("not registered", Tone.BAD),
        row.rack,
        Cell("controller", Tone.GOOD) if row.controller else "",
        row.version or "-",
        str(row.partitions),
        str(row.leaders),
        "-" if row.size_bytes is None else in_bytes(row.size_bytes),
    ]


def listing(kafka: Kafka) -> BrokerList:
    """The registered brokers, and those that hold replicas without being registered."""
    metadata, racks = kafka.metadata(), topics.racks(kafka)
    answers = ask_all(metadata, kafka.config)
    kraft = any(answer.versions and answer.versions.has(wire.DESCRIBE_QUORUM) for answer in answers.values())
    asked = any(answer.versions for answer in answers.values())
    controller = metadata.controller_id if asked and not kraft else None
    return BrokerList(
        cluster_id=metadata.cluster_id or "",
        brokers=rows(metadata, racks, answers, controller),
        quorum_leader=_quorum_leader(metadata, kafka.config) if kraft else None,
    )


def _quorum_leader(metadata: ClusterMetadata, config: Mapping[str, str]) -> int | None:
    for broker in metadata.brokers.values():
        try:
            return wire.quorum(str(broker.host), broker.port, config).leader
        except KclusterError:
            continue
    return None


def rows(
    metadata: ClusterMetadata, racks: Mapping[int, str], answers: Mapping[int, Answers], controller: int | None
) -> list[BrokerRow]:
    """A row for each broker that is registered or holds a replica."""
    partitions = [part for topic in metadata.topics.values() for part in topic.partitions.values()]
    held = Counter(broker for part in partitions for broker in part.replicas)
    led = Counter(part.leader for part in partitions)
    return [
        BrokerRow(
            id=identity,
            address=_address(metadata, identity),
            rack=racks.get(identity, ""),
            controller=None if controller is None else identity == controller,
            version=release_of(answers[identity].versions) if identity in answers else None,
            partitions=held[identity],
            leaders=led[identity],
            size_bytes=answers[identity].size if identity in answers else None,
        )
        for identity in sorted(metadata.brokers.keys() | held.keys())
    ]


def _address(metadata: ClusterMetadata, identity: int) -> str:
    broker = metadata.brokers.get(identity)
    return f"{broker.host}:{broker.port}" if broker else ""


@dataclass(frozen=True)
class BrokerProperty:
    """One effective property of a broker."""

    name: str
    value: str | None
    source: str
    """default, static, dynamic broker, dynamic default or dynamic logger."""
    sensitive: bool
    read_only: bool


@dataclass(frozen=True)
class BrokerConfig(Result):
    """The effective configuration of one broker."""

    broker: int
    properties: Sequence[BrokerProperty]
    defaults: int
    """How many more are at their default and not shown."""

    def data(self) -> Any:
        """One object per property; the value of a secret is hidden."""
        return [asdict(setting) for setting in self.properties]

    def view(self) -> Iterable[Block]:
        """Name, value and source of each."""
        rows = [
            (
                p.name,
                "" if p.value is None else p.value,
                Cell(p.source, Tone.DIM if p.source == "default" else Tone.PLAIN),
            )
            for p in self.properties
        ]
        yield Grid(("PROPERTY", "VALUE", "SOURCE"), rows)
        if self.defaults:
            yield Cell(
                f"{counted(self.defaults, 'property', 'properties')} at their default are not shown; use --all",
                Tone.DIM,
            )


def config(kafka: Kafka, identity: int, *, everything: bool = False) -> BrokerConfig:
    """The effective config of a broker with the source of each property; without `everything`, no defaults."""
    known = sorted(kafka.metadata().brokers)
    if identity not in known:
        listed = enumerated(map(str, known))
        raise UsageError(f"there is no broker {identity}: the brokers are {listed}", resolution="kcluster broker list")
    answer = brokers.configs(kafka, [identity])[identity]
    properties = [_property(entry) for _, entry in sorted(answer.items())]
    shown = [setting for setting in properties if everything or setting.source != "default"]
    return BrokerConfig(identity, shown, len(properties) - len(shown))


def _property(entry: Any) -> BrokerProperty:
    return BrokerProperty(
        name=entry.name,
        value=HIDDEN if entry.is_sensitive else entry.value,
        source=brokers.source_of(entry),
        sensitive=bool(entry.is_sensitive),
        read_only=bool(entry.is_read_only),
    )
