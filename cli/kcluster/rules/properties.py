"""Rules about properties: who owns them, whether the release knows them, and whether it takes their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcluster.config import property_tables
from kcluster.config.owned_properties import variable_for
from kcluster.config.property_tables import PropertyDefinition
from kcluster.config.setting import HIDDEN
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, warning
from kcluster.model.node import Kind, Layer
from kcluster.model.suggestions import meant
from kcluster.rules.property_sources import location
from kcluster.rules.structure import VERSIONS

_AUTHORIZERS = ("super.users", "allow.everyone.if.no.acl.found")
"""What Kafka's own authorizers read; they are plugins, so the broker's classes do not know these names."""


def owned(cluster: Cluster) -> Iterator[Finding]:
    """Properties that kcluster writes itself cannot be set by hand."""
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if word := variable_for(key):
                yield Finding(
                    f"{key}={_shown(key, value)} of {_title(layer)} is written by kcluster and cannot be set by hand",
                    f"remove it; it follows from {word}",
                    location(kind, layer.source, key),
                )


def known_to_kafka(cluster: Cluster) -> Iterator[Finding]:
    """Every property of brokers and controllers exists in the release, and its value fits."""
    version = cluster.release.version
    if version not in VERSIONS:
        return  # that the version is unknown has been said already
    table = property_tables.table(version)
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if kind is not Kind.ZOOKEEPER and not variable_for(key):
                place = location(kind, layer.source, key)
                yield from _judge(key, value, table, place, f"Kafka {version}", passes=_passes(key))


def known_to_zookeeper(cluster: Cluster) -> Iterator[Finding]:
    """Every property of ZooKeeper servers exists, and its value fits."""
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if kind is Kind.ZOOKEEPER and not variable_for(key):
                table, passes = property_tables.zookeeper_table(), property_tables.zookeeper_family(key)
                yield from _judge(key, value, table, location(kind, layer.source, key), "ZooKeeper", passes=passes)


def topic_settings(cluster: Cluster) -> Iterator[Finding]:
    """Every property of a declared topic exists in the release, and its value fits."""
    if not cluster.topics or cluster.release.version not in VERSIONS:
        return
    table = property_tables.topic_table(cluster.release.version)
    for topic in cluster.topics:
        for key, value in topic.config.items():
            yield from _judge(
                key,
                value,
                table,
                Location("all", "kafka_topics", key),
                f"a topic of Kafka {cluster.release.version}",
                strict=True,
            )


def _judge(
    key: str,
    value: str,
    table: Mapping[str, PropertyDefinition],
    place: Location,
    whose: str,
    *,
    passes: bool = False,
    strict: bool = False,
) -> Iterator[Finding]:
    known = table.get(key)
    if known is None and not passes:
        yield _unknown(key, table, place, whose, strict=strict)
    elif known and (why := property_tables.fault(known, value)):
        yield Finding(f"{key}={_shown(key, value)} {why}", _example(known), place)


def _unknown(
    key: str, table: Mapping[str, PropertyDefinition], place: Location, whose: str, *, strict: bool
) -> Finding:
    message = f"{whose} has no property {key}"
    if other := next((version for version in VERSIONS if not strict and key in property_tables.table(version)), ""):
        return Finding(f"{message}; Kafka {other} has", "remove it, or change kafka_version", place)
    if near := meant(key, table):
        return Finding(message, f"did you mean {near}?", place)
    if strict:
        return Finding(message, "remove it", place)
    return warning(message, "remove it, unless a plugin of yours reads it", place)


def _example(known: PropertyDefinition) -> str:
    wanted = f"write a {known.type}" if not known.valid else f"write one of {known.valid}"
    if known.valid.startswith("[") and ",..." in known.valid:
        wanted = f"write a number in {known.valid}"
    return f"{wanted}; Kafka's default is {known.default}" if known.default else wanted


def _shown(key: str, value: str) -> str:
    return HIDDEN if property_tables.secret(key) else value


def _passes(key: str) -> bool:
    return key in _AUTHORIZERS or property_tables.plugin(key)


def _title(layer: Layer) -> str:
    return "all hosts" if layer.source == "cluster" else layer.source


def _layers(cluster: Cluster) -> Iterator[tuple[Kind, Layer]]:
    """Every layer once, however many nodes it reaches; of one that brokers and controllers share, the brokers' view."""
    seen: set[tuple[bool, str, tuple[str, ...]]] = set()
    for node in (*cluster.brokers, *cluster.metadata.nodes):
        for layer in node.layers:
            key = (node.kind is Kind.ZOOKEEPER, layer.source, tuple(layer.properties))
            if key not in seen:
                seen.add(key)
                yield node.kind, layer


RULES = (owned, known_to_kafka, known_to_zookeeper, topic_settings)
