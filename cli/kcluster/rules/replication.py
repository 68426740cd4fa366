"""Rules about copies: how many there are, how many must be written, and that they do not fail together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kcluster.config import defaults
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, some, warning
from kcluster.model.node import Kind
from kcluster.model.topic import Topic
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


def replication_factors(cluster: Cluster) -> Iterator[Finding]:
    """No topic can have more copies than there are brokers."""
    count = len(cluster.brokers)
    for topic in cluster.topics:
        if topic.replication_factor > count:
            yield Finding(
                f"topic {topic.name} wants {topic.replication_factor} copies, but there are only {_brokers(count)}",
                f"write replication_factor: {defaults.replication_factor(count)} for it, or add brokers",
                Location("all", "kafka_topics", topic.name),
            )
    for key in _FACTORS:
        for value, spot in values_set(cluster.brokers, key):
            if value.isdecimal() and int(value) > count:
                yield Finding(
                    f"{key}={value}, but there are only {_brokers(count)}",
                    f"write {defaults.replication_factor(count)}, or add brokers",
                    spot,
                )


def insync_replicas(cluster: Cluster) -> Iterator[Finding]:
    """One copy must be allowed to be missing, or every restart stops the writers."""
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
    yield from (found for topic in cluster.topics for found in _topic(topic, standard["min.insync.replicas"]))


def _topic(topic: Topic, standard: str) -> Iterator[Finding]:
    minimum = topic.config.get("min.insync.replicas", "")
    spot = Location("all", "kafka_topics", topic.name)
    if _stalls(minimum or standard, str(topic.replication_factor)):
        said = f"min.insync.replicas={minimum}" if minimum else f"the cluster's min.insync.replicas={standard}"
        effect = _effect(minimum or standard, str(topic.replication_factor))
        copies = "1 copy" if topic.replication_factor == 1 else f"{topic.replication_factor} copies"
        yield Finding(
            f"topic {topic.name} has {copies} and {said}: {effect}",
            _remedy("its min.insync.replicas", "its replication_factor", topic.replication_factor),
            spot,
        )


def _stalls(minimum: str, factor: str) -> bool:
    if not (minimum.isdecimal() and factor.isdecimal()):
        return False
    # One copy that must be there is not a mistake of the two numbers: it is the choice of a single copy.
    return int(minimum) >= int(factor) and not int(minimum) == int(factor) == 1


def _effect(minimum: str, factor: str) -> str:
    if int(minimum) > int(factor):
        return "nobody can write with acks=all"
    return "writers stop as soon as one copy is missing"


def _remedy(least: str, copies: str, factor: int) -> str:
    if factor <= 1:
        return f"raise {copies} to 3, or set {least} to 1"
    return f"set {least} to {factor - 1}, or raise {copies}"


def single_copies(cluster: Cluster) -> Iterator[Finding]:
    """A topic with one copy is gone with its broker."""
    for topic in cluster.topics:
        if (
            topic.replication_factor == 1
            and len(cluster.brokers) > 1
            and not _stalls(topic.config.get("min.insync.replicas", "2"), "1")
        ):
            yield warning(
                f"topic {topic.name} has one copy, which is lost with its broker",
                f"write replication_factor: {defaults.replication_factor(len(cluster.brokers))} for it",
                Location("all", "kafka_topics", topic.name),
            )


def racks(cluster: Cluster) -> Iterator[Finding]:
    """Racks are known of all brokers or of none, and there is more than one."""
    without = [broker for broker in cluster.brokers if not broker.rack]
    count = Counter(broker.rack for broker in cluster.brokers if broker.rack)
    if count and without:
        names = [broker.host.name for broker in without]
        yield Finding(
            f"{_brokers(len(names))} without a rack ({some(names)}), others with one: Kafka then places no topics",
            "write kafka_rack for every broker, or for none",
            Location(names[0]),
        )
    elif len(count) == 1 and len(cluster.brokers) > 1:
        (rack,) = count
        yield warning(
            f"all brokers are in rack {rack}: when it fails, every copy does",
            "spread the brokers over racks, or leave kafka_rack out",
            Location(cluster.brokers[0].host.name, "kafka_rack"),
        )


def topics_once(cluster: Cluster) -> Iterator[Finding]:
    """A topic is declared once, and names that differ in `.` and `_` alone share their metrics."""
    for name, count in Counter(topic.name for topic in cluster.topics).items():
        if count > 1:
            yield Finding(
                f"topic {name} is declared {'twice' if count == 2 else f'{count} times'}",
                "remove all but one entry",
                Location("all", "kafka_topics", name),
            )
    plain: dict[str, str] = {}
    for topic in cluster.topics:
        other = plain.setdefault(topic.name.replace(".", "_"), topic.name)
        if other != topic.name:
            yield warning(
                f"topics {other} and {topic.name} share their metrics, because Kafka turns `.` into `_` there",
                "rename one of them",
                Location("all", "kafka_topics", topic.name),
            )


def _brokers(count: int) -> str:
    return "1 broker" if count == 1 else f"{count} brokers"


RULES = (replication_factors, insync_replicas, single_copies, racks, topics_once)
