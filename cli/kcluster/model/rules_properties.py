"""Rules about properties: who owns them, whether the release knows them, and whether it takes their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcluster.model import properties
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Spot, warning
from kcluster.model.names import meant
from kcluster.model.node import Kind, Layer
from kcluster.model.owned import word_for
from kcluster.model.properties import Property
from kcluster.model.rules_structure import VERSIONS
from kcluster.model.settings import HIDDEN
from kcluster.model.written import spot

_AUTHORIZERS = ("super.users", "allow.everyone.if.no.acl.found")
"""What Kafka's own authorizers read; they are plugins, so the broker's classes do not know these names."""


def owned(cluster: Cluster) -> Iterator[Finding]:
    """Properties that kcluster writes itself cannot be set by hand."""
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if word := word_for(key):
                yield Finding(
                    f"{key}={_shown(key, value)} of {_title(layer)} is written by kcluster and cannot be set by hand",
                    f"remove it; it follows from {word}",
                    spot(kind, layer.source, key),
                )


def known_to_kafka(cluster: Cluster) -> Iterator[Finding]:
    """Every property of brokers and controllers exists in the release, and its value fits."""
    version = cluster.release.version
    if version not in VERSIONS:
        return  # that the version is unknown has been said already
    table = properties.table(version)
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if kind is not Kind.ZOOKEEPER and not word_for(key):
                place = spot(kind, layer.source, key)
                yield from _judge(key, value, table, place, f"Kafka {version}", passes=_passes(key))


def known_to_zookeeper(cluster: Cluster) -> Iterator[Finding]:
    """Every property of ZooKeeper servers exists, and its value fits."""
    for kind, layer in _layers(cluster):
        for key, value in layer.properties.items():
            if kind is Kind.ZOOKEEPER and not word_for(key):
                table, passes = properties.zookeeper_table(), properties.zookeeper_family(key)
                yield from _judge(key, value, table, spot(kind, layer.source, key), "ZooKeeper", passes=passes)


def topic_settings(cluster: Cluster) -> Iterator[Finding]:
    """Every property of a declared topic exists in the release, and its value fits."""
    if not cluster.topics or cluster.release.version not in VERSIONS:
        return
    table = properties.topic_table(cluster.release.version)
    for topic in cluster.topics:
        for key, value in topic.config.items():
            yield from _judge(
                key,
                value,
                table,
                Spot("all", "kafka_topics", key),
                f"a topic of Kafka {cluster.release.version}",
                strict=True,
            )


def _judge(
    key: str,
    value: str,
    table: Mapping[str, Property],
    place: Spot,
    whose: str,
    *,
    passes: bool = False,
    strict: bool = False,
) -> Iterator[Finding]:
    known = table.get(key)
    if known is None and not passes:
        yield _unknown(key, table, place, whose, strict=strict)
    elif known and (why := properties.fault(known, value)):
        yield Finding(f"{key}={_shown(key, value)} {why}", _example(known), place)


def _unknown(key: str, table: Mapping[str, Property], place: Spot, whose: str, *, strict: bool) -> Finding:
    message = f"{whose} has no property {key}"
    if other := next((version for version in VERSIONS if not strict and key in properties.table(version)), ""):
        return Finding(f"{message}; Kafka {other} has", "remove it, or change kafka_version", place)
    if near := meant(key, table):
        return Finding(message, f"did you mean {near}?", place)
    if strict:
        return Finding(message, "remove it", place)
    return warning(message, "remove it, unless a plugin of yours reads it", place)


def _example(known: Property) -> str:
    wanted = f"write a {known.type}" if not known.valid else f"write one of {known.valid}"
    if known.valid.startswith("[") and ",..." in known.valid:
        wanted = f"write a number in {known.valid}"
    return f"{wanted}; Kafka's default is {known.default}" if known.default else wanted


def _shown(key: str, value: str) -> str:
    return HIDDEN if properties.secret(key) else value


def _passes(key: str) -> bool:
    return key in _AUTHORIZERS or properties.plugin(key)


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
