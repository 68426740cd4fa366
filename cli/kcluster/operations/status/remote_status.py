"""The nodes of a cluster on hosts: their units over SSH, their roles over the wire, both at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError
from kcluster.facts import features, spark_masters
from kcluster.facts.node_roles import roles
from kcluster.model.cluster import Cluster, Part
from kcluster.model.endpoints import address_of
from kcluster.model.node import Node
from kcluster.model.observed import ObservedHost, ObservedNode, ObservedUnit
from kcluster.model.running import ProcessState, Running
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.operations.status import node_state
from kcluster.operations.status.status_result import ClusterStatus, NodeStatus, StatusProblem
from kcluster.plan.pairs import Pair
from kcluster.plan.restart_reasons import pending_restart

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections, Login
    from kcluster.facts.reach import Reach
    from kcluster.facts.running import Seen

_STATES = {
    "activating": node_state.STARTING,
    "reloading": node_state.SERVING,
    "deactivating": "stopping",
    "inactive": "stopped",
    "failed": "failed",
    "missing": "missing",
}
_REMEDIES = {
    "start stopped nodes: kcluster start": ("stopped", "failed"),
    "install missing nodes: kcluster provision": ("missing",),
    "see why a node fails: kcluster logs": ("restarting", "failed", node_state.NOT_ANSWERING, node_state.NOT_SERVING),
    "wait for starting nodes: kcluster health --wait 120s": (node_state.STARTING, "stopping"),
}
_UNKNOWN = ObservedNode(ObservedUnit("missing"))


def remote(cluster: Cluster, logins: Mapping[str, Login], spelled: str) -> ClusterStatus:
    """The nodes of a cluster on hosts; a host that cannot be reached is a problem in the result, never an error.

    `spelled` is how the user named the cluster, for the commands that the result suggests.
    """
    from kcluster.clients.ssh import Connections  # lazily: local clusters need no SSH

    with Connections(logins) as hosts:
        return over(hosts, cluster, spelled)


def over(hosts: Connections, cluster: Cluster, spelled: str) -> ClusterStatus:
    """The same over connections that are open already."""
    from kcluster.facts.reach import Reach  # lazily: local clusters need no SSH
    from kcluster.facts.running import asked

    reach = Reach(hosts)
    seen, _, (role_of, levels) = asked(cluster, hosts, reach, lambda where: _roles_and_features(where, reach))
    return replace(of(cluster, seen, role_of, spelled), features=levels)


def _roles_and_features(cluster: Cluster, reach: Reach) -> tuple[dict[str, str], Mapping[str, int]]:
    with ThreadPoolExecutor() as pool:
        spark = pool.submit(spark_masters.roles, cluster.engine) if cluster.engine else None
        levels = pool.submit(features.finalized, cluster, reach.connect)
        found = {**roles(cluster, cluster.nodes, reach.connect), **(spark.result() if spark else {})}
        return found, levels.result()


def of(cluster: Cluster, seen: Seen, role_of: Mapping[str, str], spelled: str) -> ClusterStatus:
    """The status that follows from what was seen of each part, and the roles of the nodes that answer."""
    from kcluster.facts.running import of_hosts

    running = of_hosts(cluster, seen)
    nodes = tuple(
        _node(part, node, hosts[node.host.name], role_of.get(node.name), running)
        for part, hosts in zip(cluster.parts, seen, strict=True)
        for node in part.nodes
    )
    answers = {host: answer for hosts in seen for host, answer in hosts.items()}
    problems = _problems({host: answer for host, answer in answers.items() if isinstance(answer, KclusterError)})
    remedy = node_state.remedy({node.state for node in nodes}, _REMEDIES, spelled)
    spark = cluster.engine.release.version if cluster.engine else ""
    return ClusterStatus(cluster.name, cluster.release.version, cluster.bootstrap, "", nodes, remedy, problems, spark)


def _problems(errors: Mapping[str, KclusterError]) -> tuple[StatusProblem, ...]:
    from kcluster.clients.ssh import ways_out  # lazily: local clusters need no SSH

    remedies = ways_out(errors)
    return tuple(
        StatusProblem(host, error.message.removeprefix(f"{host}: "), remedies[host], error.details)
        for host, error in errors.items()
    )


def _node(part: Part, node: Node, host: ObservedHost | KclusterError, role: str | None, running: Running) -> NodeStatus:
    address, wanted = _address(running.node(node)), _address(node)
    number = None if isinstance(node, SparkDaemon) else node.id
    if isinstance(host, KclusterError):
        return NodeStatus(node.name, node.host.name, node.kind, number, address, "unreachable", role or "")
    unit = host.nodes.get(node.name, _UNKNOWN).unit
    installed = unit.state != "missing"
    return NodeStatus(
        node=node.name,
        host=node.host.name,
        kind=node.kind,
        id=number,
        address=address,
        wanted_address=wanted if wanted != address else "",
        state=_state(unit, role, running.process(node)),
        role=role or "",
        pid=unit.pid,
        uptime_seconds=None if unit.uptime_seconds is None else int(unit.uptime_seconds),
        memory_bytes=unit.memory_bytes,
        restarts=unit.restarts if installed else None,
        at_boot=unit.enabled if installed else None,
        restart_needed=bool(pending_restart(Pair(part, node, host))) if unit.state == "active" else None,
    )


def _address(node: Node) -> str:
    return "{}:{}".format(*address_of(node))


def _state(unit: ObservedUnit, role: str | None, process: ProcessState) -> str:
    """The state that `status` shows for a unit; one between two attempts to start is restarting."""
    if unit.state == "active":
        return node_state.state_of(role, started=process is ProcessState.LISTENING)
    if unit.state == "activating" and unit.restarts:
        return "restarting"
    return _STATES.get(unit.state, node_state.STARTING)
