"""`restart`: nodes of a live cluster, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcluster.journal import Journal
from kcluster.rollout.cluster_lock import locked
from kcluster.rollout.node_selection import installed, select_nodes
from kcluster.rollout.roll import RollReport, refuse_unsafe, roll

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.node import Node
    from kcluster.results import Progress
    from kcluster.rollout.gates import Gates

REASON = "asked for"


def plan(gates: Gates, names: Sequence[str], hosts: Connections) -> list[Node]:
    """What would be restarted; what cannot be made safe is refused before anybody is asked."""
    nodes = select_nodes(gates.cluster, names)
    installed(gates.cluster, nodes, hosts)
    refuse_unsafe(gates, [[node] for node in nodes])
    return nodes


def restart(
    gates: Gates, nodes: Sequence[Node], hosts: Connections, progress: Progress, words: Sequence[str]
) -> RollReport:
    """Restart the nodes one at a time, and stop at the first one that does not come back."""
    cluster = gates.cluster
    with locked(cluster, hosts, words) as lock, Journal.begin(cluster.name, words) as journal:
        reasons = {node.name: REASON for node in nodes}
        return roll(gates, reasons, hosts, progress, journal.note, check=lock.check)
