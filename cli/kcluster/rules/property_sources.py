"""The values that an inventory sets for a property, with their locations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcluster.model.finding import Location
from kcluster.model.node import Kind, Node

_CONFIG_VARIABLES = {
    Kind.ZOOKEEPER: "zookeeper_config",
    Kind.BROKER: "kafka_config",
    Kind.CONTROLLER: "kafka_controller_config",
    Kind.SPARK_MASTER: "spark_config",
    Kind.SPARK_WORKER: "spark_config",
}


def values_set(nodes: Iterable[Node], key: str) -> Iterator[tuple[str, Location]]:
    """The effective values of a property that the inventory sets for these nodes, each once, with its location."""
    reported: set[tuple[str, str]] = set()
    for node in nodes:
        layer = next((layer for layer in reversed(node.layers) if key in layer.properties), None)
        if layer and (layer.source, layer.properties[key]) not in reported:
            reported.add((layer.source, layer.properties[key]))
            yield layer.properties[key], location(node.kind, layer.source, key)


def location_of(node: Node, key: str) -> Location | None:
    """Where the inventory sets a property of a node; None when it does not."""
    return next((place for _, place in values_set([node], key)), None)


def location(kind: Kind, source: str, key: str) -> Location:
    """The location of a property that a level sets for a kind of node."""
    return Location("all" if source == "cluster" else source.partition(" ")[2], _CONFIG_VARIABLES[kind], key)
