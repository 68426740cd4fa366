"""The nodes of clusters on this machine, and their processes."""

from __future__ import annotations

from kcluster import local
from kcluster.clients import ports, processes
from kcluster.facts import features
from kcluster.facts.node_roles import roles
from kcluster.local import readiness
from kcluster.local.cluster_record import ClusterRecord
from kcluster.model.endpoints import last_port
from kcluster.model.node import Node
from kcluster.operations.status import node_state
from kcluster.operations.status.status_result import ClusterLine, ClusterList, ClusterStatus, NodeStatus

_REMEDIES = {
    "start stopped nodes: kcluster up": ("stopped", "crashed"),
    "see why a node fails: kcluster logs": ("crashed", node_state.NOT_ANSWERING, node_state.NOT_SERVING),
    "wait for starting nodes: kcluster up": (node_state.STARTING,),
}


def clusters() -> ClusterList:
    """Every cluster on this machine, one line for each."""
    return ClusterList(tuple(_line(local.record(name)) for name in local.cluster_names()))


def status(name: str) -> ClusterStatus:
    """The nodes of one cluster on this machine, whether or not they run."""
    record = local.record(name)
    cluster = record.cluster
    listening = [node for node in cluster.nodes if _listens(record, node, readiness.client_port(node))]
    role_of = roles(cluster, listening)
    nodes = tuple(_node(record, node, role_of.get(node.name)) for node in cluster.nodes)
    remedy = node_state.remedy({node.state for node in nodes}, _REMEDIES, f"-n {name}")
    return ClusterStatus(
        cluster.name,
        cluster.release.version,
        cluster.bootstrap,
        str(record.root),
        nodes,
        remedy,
        features=features.finalized(cluster) if listening else {},
    )


def _line(record: ClusterRecord) -> ClusterLine:
    cluster = record.cluster
    running = sum(record.runs(node.name) for node in cluster.nodes)
    origin = record.origin.inventory or "options of `kcluster up`"
    return ClusterLine(cluster.name, cluster.release.version, running, len(cluster.nodes), cluster.bootstrap, origin)


def _node(record: ClusterRecord, node: Node, role: str | None) -> NodeStatus:
    entry = record.started.get(node.name)
    running = record.runs(node.name)
    return NodeStatus(
        node=node.name,
        host=node.host.name,
        kind=node.kind,
        id=node.id,
        address=f"{node.host.address}:{readiness.client_port(node)}",
        state=_state(record, node, role),
        role=role or "",
        pid=entry.process.pid if entry and running else None,
        uptime_seconds=int(processes.uptime(entry.process)) if entry and running else None,
        memory_bytes=processes.memory(entry.process) if entry and running else None,
    )


def _state(record: ClusterRecord, node: Node, role: str | None) -> str:
    if record.runs(node.name):
        started = _listens(record, node, last_port(node, record.cluster))
        return node_state.state_of(role, started=started)
    return "crashed" if node.name in record.started else "stopped"


def _listens(record: ClusterRecord, node: Node, port: int) -> bool:
    """Whether the node's own process listens on a port."""
    return record.runs(node.name) and ports.held_by(record.started[node.name].process.pid, port)
