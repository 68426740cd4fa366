"""The nodes that a command on hosts is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcluster.config.unit_titles import other_owner
from kcluster.errors import RefusedError, UsageError
from kcluster.model.finding import some
from kcluster.model.node import Kind
from kcluster.model.suggestions import nearest
from kcluster.rollout.diagnosis import UnitState, unit_of, units

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node

_STAGES = ((Kind.ZOOKEEPER, Kind.CONTROLLER), (Kind.BROKER,), (Kind.SPARK_MASTER,), (Kind.SPARK_WORKER,))


def select_nodes(cluster: Cluster, names: Sequence[str]) -> list[Node]:
    """The nodes meant by names of nodes and hosts, in the cluster's order; every node when none is named."""
    for name in names:
        found(cluster, name)
    meant = {node.name for name in names for node in cluster.find(name)}
    return [node for node in cluster.every_node if not names or node.name in meant]


def found(cluster: Cluster, name: str) -> tuple[Node, ...]:
    """The nodes that one name means; an error with the nearest names when it means none."""
    if nodes := cluster.find(name):
        return nodes
    near = nearest(name, cluster.names)
    resolution = f"did you mean {', '.join(near)}?" if near else f"it has {some(cluster.names)}"
    raise UsageError(f"{cluster.name} has no node or host {name}", resolution=resolution)


def stages(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes in groups that start together: the keepers of the metadata, brokers, Spark's masters, its workers."""
    found = [[node for node in nodes if node.kind in kinds] for kinds in _STAGES]
    return [stage for stage in found if stage]


def installed(cluster: Cluster, nodes: Sequence[Node], hosts: Connections) -> dict[str, UnitState]:
    """The unit of each node; an error when one is not there at all, or is another cluster's."""
    there = units(nodes, hosts)
    missing = [f"{node.name} on {node.host.name}" for node in nodes if there[node.name].active == "missing"]
    if missing:
        raise RefusedError(
            f"not installed: {', '.join(missing)}",
            details=f"there is no unit {', '.join(sorted({unit_of(node) for node in nodes}))}",
            resolution="kcluster provision -i INV",
        )
    for node in nodes:
        if owner := other_owner(f"Description={there[node.name].description}", cluster.name):
            raise RefusedError(
                f"{unit_of(node)} on {node.host.name} belongs to the cluster {owner}, this one is {cluster.name}",
                resolution=f"correct ansible_host of {node.host.name}; kcluster explain unit-owner tells more",
            )
    return there
