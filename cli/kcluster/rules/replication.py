"""Rules about replicas: how many there are, how many must be in sync, and that they do not fail together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kcluster.config import defaults
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, some, times, warning
from kcluster.model.node import Kind
from kcluster.model.topic import Topic
from kcluster.results import counted
from kcluster.rules.property_sources import location_of, values_set

_FACTORS = (
    "default.replication.factor",
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
_PAIRS = (
    ("min.insync.replicas", "default.replication.factor"),
    ("transaction.state.log.min.isr", "transaction.state.log.replication.factor"),
    ("share.coordinator.state.topic.min.isr", "share.coordinator.state.topic.replication.factor"),
)


def replication_factor_within_brokers(cluster: Cluster) -> Iterator[Finding]:
    """No replication factor exceeds the number of brokers."""
    count = len(cluster.brokers)
    for topic in cluster.topics:
        if topic.replication_factor > count:
            yield Finding(
                f"topic {topic.name} has replication_factor {topic.replication_factor}, "
                f"but there are {counted(count, 'broker')}",
                f"set replication_factor: {defaults.replication_factor(count)}, or add brokers",
                Location("all", "kafka_topics", topic.name),
            )
    for key in _FACTORS:
        for value, spot in values_set(cluster.brokers, key):
            if value.isdecimal() and int(value) > count:
                yield Finding(
                    f"{key}={value}, but there are {counted(count, 'broker')}",
                    f"set it to {defaults.replication_factor(count)}, or add brokers",
                    spot,
                )


def min_insync_below_replication_factor(cluster: Cluster) -> Iterator[Finding]:
    """min.insync.replicas leaves one replica to spare; otherwise every restart of a broker stops the producers."""
    standard = {default.key: default.value for default in defaults.for_kind(cluster, Kind.BROKER)}
    for least, copies in _PAIRS:
        pairs: dict[tuple[str, str], Broker] = {}
        for node in cluster.brokers:
            set_by_hand = node.set_by_hand()
            if least in set_by_hand or copies in set_by_hand:
                merged = {**standard, **set_by_hand}
                pairs.setdefault((merged.get(least, "1"), merged.get(copies, "1")), node)
        for (minimum, factor), node in pairs.items():
            if _stalls(minimum, factor):
                yield Finding(
                    f"{least}={minimum} with {copies}={factor}: {_effect(minimum, factor)}",
                    _remedy(least, copies, int(factor)),
                    location_of(node, least) or location_of(node, copies) or Location(),
                )
    yield from (
        finding for topic in cluster.topics for finding in _topic_insync(topic, standard["min.insync.replicas"])
    )


def _topic_insync(topic: Topic, standard: str) -> Iterator[Finding]:
    minimum = topic.config.get("min.insync.replicas", "")
    spot = Location("all", "kafka_topics", topic.name)
    if _stalls(minimum or standard, str(topic.replication_factor)):
        source = f"min.insync.replicas={minimum}" if minimum else f"the cluster's min.insync.replicas={standard}"
        effect = _effect(minimum or standard, str(topic.replication_factor))
        yield Finding(
            f"topic {topic.name} has {counted(topic.replication_factor, 'replica')} and {source}: {effect}",
            _remedy("its min.insync.replicas", "its replication_factor", topic.replication_factor),
            spot,
        )


def _stalls(minimum: str, factor: str) -> bool:
    if not (minimum.isdecimal() and factor.isdecimal()):
        return False
    # 1 of 1 is no contradiction: the topic has a single replica on purpose.
    return int(minimum) >= int(factor) and not int(minimum) == int(factor) == 1


def _effect(minimum: str, factor: str) -> str:
    if int(minimum) > int(factor):
        return "writes with acks=all always fail"
    return "writes with acks=all fail as soon as 1 replica is down"


def _remedy(least: str, copies: str, factor: int) -> str:
    if factor <= 1:
        return f"raise {copies} to 3, or set {least} to 1"
    return f"set {least} to {factor - 1}, or raise {copies}"


def topics_replicated(cluster: Cluster) -> Iterator[Finding]:
    """A topic has more than one replica, where there is more than one broker."""
    for topic in cluster.topics:
        if (
            topic.replication_factor == 1
            and len(cluster.brokers) > 1
            and not _stalls(topic.config.get("min.insync.replicas", "2"), "1")
        ):
            yield warning(
                f"topic {topic.name} has 1 replica, which is lost with its broker",
                f"set replication_factor: {defaults.replication_factor(len(cluster.brokers))}",
                Location("all", "kafka_topics", topic.name),
            )


def racks_complete(cluster: Cluster) -> Iterator[Finding]:
    """All brokers have a rack or none has, and there is more than one rack."""
    without = [broker for broker in cluster.brokers if not broker.rack]
    count = Counter(broker.rack for broker in cluster.brokers if broker.rack)
    if count and without:
        names = [broker.host.name for broker in without]
        yield Finding(
            f"kafka_rack is missing for {len(names)} of {counted(len(cluster.brokers), 'broker')} ({some(names)}): "
            "Kafka then creates no topics",
            "set kafka_rack for every broker, or for none",
            Location(names[0]),
        )
    elif len(count) == 1 and len(cluster.brokers) > 1:
        (rack,) = count
        yield warning(
            f"all {len(cluster.brokers)} brokers have kafka_rack {rack}: all replicas fail with this rack",
            "spread the brokers over racks, or remove kafka_rack",
            Location(cluster.brokers[0].host.name, "kafka_rack"),
        )


def topics_declared_once(cluster: Cluster) -> Iterator[Finding]:
    """A topic is declared once, and no two names differ in `.` and `_` alone: these share their metrics."""
    for name, count in Counter(topic.name for topic in cluster.topics).items():
        if count > 1:
            yield Finding(
                f"topic {name} is declared {times(count)}",
                "remove all but one entry",
                Location("all", "kafka_topics", name),
            )
    plain: dict[str, str] = {}
    for topic in cluster.topics:
        other = plain.setdefault(topic.name.replace(".", "_"), topic.name)
        if other != topic.name:
            yield warning(
                f"topics {other} and {topic.name} share their metrics: Kafka replaces `.` with `_` in metric names",
                "rename one of them",
                Location("all", "kafka_topics", topic.name),
            )


RULES = (
    replication_factor_within_brokers,
    min_insync_below_replication_factor,
    topics_replicated,
    racks_complete,
    topics_declared_once,
)
