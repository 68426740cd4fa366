"""What people wrote for a property, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcluster.model.finding import Location
from kcluster.model.node import Kind, Node

_WORDS = {
    Kind.ZOOKEEPER: "zookeeper_config",
    Kind.BROKER: "kafka_config",
    Kind.CONTROLLER: "kafka_controller_config",
    Kind.SPARK_MASTER: "spark_config",
    Kind.SPARK_WORKER: "spark_config",
}


def values_set(nodes: Iterable[Node], key: str) -> Iterator[tuple[str, Location]]:
    """The values people gave a property that count somewhere, each once, with the place."""
    seen: set[tuple[str, str]] = set()
    for node in nodes:
        layer = next((layer for layer in reversed(node.layers) if key in layer.properties), None)
        if layer and (layer.source, layer.properties[key]) not in seen:
            seen.add((layer.source, layer.properties[key]))
            yield layer.properties[key], location(node.kind, layer.source, key)


def location_of(node: Node, key: str) -> Location | None:
    """Where a property of a node is written; None when nobody wrote it."""
    return next((place for _, place in values_set([node], key)), None)


def location(kind: Kind, source: str, key: str) -> Location:
    """Where a property stands that a level sets for a kind of node."""
    return Location("all" if source == "cluster" else source.partition(" ")[2], _WORDS[kind], key)
