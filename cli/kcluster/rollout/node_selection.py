"""The nodes that a command on hosts acts on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcluster.config.unit_titles import other_owner
from kcluster.errors import RefusedError, UsageError
from kcluster.model.finding import some
from kcluster.model.suggestions import nearest
from kcluster.rollout.diagnosis import UnitState, unit_of, units

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node


def select_nodes(cluster: Cluster, names: Sequence[str]) -> list[Node]:
    """The nodes of these names of nodes and hosts, in the cluster's order; every node without names.

    UsageError with the nearest names for one that is neither a node nor a host of the cluster.
    """
    selected = {node.name for name in names for node in nodes_named(cluster, name)}
    return [node for node in cluster.every_node if not names or node.name in selected]


def nodes_named(cluster: Cluster, name: str) -> tuple[Node, ...]:
    """The node of one name, or the nodes on the host of that name; UsageError with the nearest names without any."""
    if nodes := cluster.find(name):
        return nodes
    near = nearest(name, cluster.names)
    resolution = f"did you mean {', '.join(near)}?" if near else f"it has {some(cluster.names)}"
    raise UsageError(f"{cluster.name} has no node or host {name}", resolution=resolution)


def installed(cluster: Cluster, nodes: Sequence[Node], hosts: Connections) -> dict[str, UnitState]:
    """The unit of each node; RefusedError when one is not installed, or belongs to another cluster."""
    by_node = units(nodes, hosts)
    missing = [f"{node.name} on {node.host.name}" for node in nodes if by_node[node.name].active == "missing"]
    if missing:
        raise RefusedError(
            f"not installed: {', '.join(missing)}",
            details=f"there is no unit {', '.join(sorted({unit_of(node) for node in nodes}))}",
            resolution="kcluster provision -i INV",
        )
    for node in nodes:
        if owner := other_owner(f"Description={by_node[node.name].description}", cluster.name):
            raise RefusedError(
                f"{unit_of(node)} on {node.host.name} belongs to the cluster {owner}, this one is {cluster.name}",
                resolution=f"correct ansible_host of {node.host.name}; see kcluster explain unit-owner",
            )
    return by_node
