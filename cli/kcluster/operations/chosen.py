"""The nodes that a command on hosts is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcluster.errors import RefusedError, UsageError
from kcluster.model.names import nearest
from kcluster.operations.diagnosing import Unit, unit_of, units

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node


def chosen(cluster: Cluster, names: Sequence[str]) -> list[Node]:
    """The nodes meant by names of nodes and hosts, in the cluster's order; every node when none is named."""
    for name in names:
        if not cluster.find(name):
            near = ", ".join(nearest(name, cluster.names)) or ", ".join(cluster.names)
            raise UsageError(f"{cluster.name} has no node or host {name}", resolution=f"did you mean {near}?")
    meant = {node.name for name in names for node in cluster.find(name)}
    return [node for node in cluster.nodes if not names or node.name in meant]


def installed(nodes: Sequence[Node], hosts: Connections) -> dict[str, Unit]:
    """The unit of each node; an error when one is not there at all."""
    found = units(nodes, hosts)
    missing = [f"{node.name} on {node.host.name}" for node in nodes if found[node.name].active == "missing"]
    if missing:
        raise RefusedError(
            f"not installed: {', '.join(missing)}",
            details=f"there is no unit {', '.join(sorted({unit_of(node) for node in nodes}))}",
            resolution="kcluster provision -i INV",
        )
    return found
