"""Rules about properties: not written by kcluster itself, known to the release, with values that it accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcluster.config import property_tables
from kcluster.config.owned_properties import variable_for
from kcluster.config.property_tables import PropertyDefinition
from kcluster.config.setting import HIDDEN
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, warning, written_at
from kcluster.model.node import Kind, Layer
from kcluster.model.suggestions import meant
from kcluster.rules.property_sources import location
from kcluster.rules.structure import VERSIONS

_AUTHORIZERS = ("super.users", "allow.everyone.if.no.acl.found")
"""Properties of Kafka's authorizers: these are plugins, so the tables of broker properties do not have them."""


def no_owned_properties(cluster: Cluster) -> Iterator[Finding]:
    """No property that kcluster writes itself is set by hand."""
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if variable := variable_for(key):
                yield Finding(
                    f"{key}={_shown(key, value)} {written_at(layer.source)}: kcluster writes this property itself",
                    f"remove it; it is derived from {variable}",
                    location(kind, layer.source, key),
                )


def kafka_properties_known(cluster: Cluster) -> Iterator[Finding]:
    """Every property of brokers and controllers exists in the release, with a value that it accepts."""
    version = cluster.release.version
    if version not in VERSIONS:
        return  # structure.known_release reports it
    table = property_tables.table(version)
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if kind is not Kind.ZOOKEEPER and not variable_for(key):
                place = location(kind, layer.source, key)
                yield from _property_findings(
                    key, value, table, place, f"Kafka {version}", let_through=_let_through(key)
                )


def zookeeper_properties_known(cluster: Cluster) -> Iterator[Finding]:
    """Every property of ZooKeeper servers exists, with a value that ZooKeeper accepts."""
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if kind is Kind.ZOOKEEPER and not variable_for(key):
                table, let_through = property_tables.zookeeper_table(), property_tables.zookeeper_family(key)
                yield from _property_findings(
                    key, value, table, location(kind, layer.source, key), "ZooKeeper", let_through=let_through
                )


def topic_properties_known(cluster: Cluster) -> Iterator[Finding]:
    """Every property of a declared topic exists in the release, with a value that it accepts."""
    if not cluster.topics or cluster.release.version not in VERSIONS:
        return
    table = property_tables.topic_table(cluster.release.version)
    for topic in cluster.topics:
        for key, value in topic.config.items():
            yield from _property_findings(
                key,
                value,
                table,
                Location("all", "kafka_topics", key),
                f"Kafka {cluster.release.version}",
                of_topic=True,
            )


def _property_findings(
    key: str,
    value: str,
    table: Mapping[str, PropertyDefinition],
    place: Location,
    whose: str,
    *,
    let_through: bool = False,
    of_topic: bool = False,
) -> Iterator[Finding]:
    known = table.get(key)
    if known is None and not let_through:
        yield _unknown(key, table, place, whose, of_topic=of_topic)
    elif known and (why := property_tables.fault(known, value)):
        yield Finding(f"{key}={_shown(key, value)} {why}", _example(known), place)


def _unknown(
    key: str, table: Mapping[str, PropertyDefinition], place: Location, whose: str, *, of_topic: bool
) -> Finding:
    message = f"{whose} has no {'topic ' if of_topic else ''}property {key}"
    if other := next((version for version in VERSIONS if not of_topic and key in property_tables.table(version)), ""):
        return Finding(f"{message}; Kafka {other} has it", "remove it, or change kafka_version", place)
    if near := meant(key, table):
        return Finding(message, f"did you mean {near}?", place)
    if of_topic:
        return Finding(message, "remove it", place)
    return warning(message, "remove it, unless a plugin reads it", place)


def _example(known: PropertyDefinition) -> str:
    values = f"one of {known.valid}" if known.valid else f"a value of type {known.type}"
    if known.valid.startswith("[") and ",..." in known.valid:
        values = f"a number in {known.valid}"
    return f"use {values}; Kafka's default is {known.default}" if known.default else f"use {values}"


def _shown(key: str, value: str) -> str:
    return HIDDEN if property_tables.secret(key) else value


def _let_through(key: str) -> bool:
    return key in _AUTHORIZERS or property_tables.plugin(key)


def _layers(cluster: Cluster) -> Iterator[tuple[Kind, Layer]]:
    """Every layer once, however many nodes it reaches; of one that brokers and controllers share, the brokers' view."""
    seen: set[tuple[bool, str, tuple[str, ...]]] = set()
    for node in (*cluster.brokers, *cluster.metadata.nodes):
        for layer in node.layers:
            key = (node.kind is Kind.ZOOKEEPER, layer.source, tuple(layer.properties))
            if key not in seen:
                seen.add(key)
                yield node.kind, layer


RULES = (no_owned_properties, kafka_properties_known, zookeeper_properties_known, topic_properties_known)
