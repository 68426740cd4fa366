"""The nodes of a cluster on hosts: their units over SSH, their roles over the wire, both at the same time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError
from kcluster.facts import spark_masters
from kcluster.facts.node_roles import door, roles
from kcluster.model.cluster import Cluster, Part
from kcluster.model.node import Node
from kcluster.model.observed import ObservedHost, ObservedNode, ObservedUnit
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.operations.status.status_result import ClusterStatus, NodeStatus, StatusProblem
from kcluster.plan import restart_reasons
from kcluster.plan.pairs import Pair

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections, Login

_STATES = {
    "activating": "starting",
    "reloading": "running",
    "deactivating": "stopping",
    "inactive": "stopped",
    "failed": "failed",
    "missing": "missing",
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
    from kcluster.facts.hosts import observe_parts  # lazily: local clusters need no SSH

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(roles, cluster, cluster.nodes)]
        if cluster.engine:
            asked.append(pool.submit(spark_masters.roles, cluster.engine))
        seen = observe_parts(cluster.parts, hosts)
        return of(cluster, seen, {name: role for one in asked for name, role in one.result().items()}, spelled)


def of(
    cluster: Cluster,
    seen: Sequence[Mapping[str, ObservedHost | KclusterError]],
    found: Mapping[str, str],
    spelled: str,
) -> ClusterStatus:
    """The status that follows from what was seen of each part on the hosts, and heard over the wire."""
    nodes = tuple(
        _node(part, node, there[node.host.name], found.get(node.name))
        for part, there in zip(cluster.parts, seen, strict=True)
        for node in part.nodes
    )
    said = {host: answer for there in seen for host, answer in there.items()}
    problems = _problems({host: answer for host, answer in said.items() if isinstance(answer, KclusterError)})
    remedy = _remedy({node.state for node in nodes}, spelled)
    spark = cluster.engine.release.version if cluster.engine else ""
    return ClusterStatus(cluster.name, cluster.release.version, cluster.bootstrap, "", nodes, remedy, problems, spark)


def _remedy(states: Collection[str], spelled: str) -> str:
    """What to do about nodes that do not run; what is on its way needs only time."""
    ways = {
        "start what is stopped: kcluster start": ("stopped", "failed"),
        "what is missing: kcluster provision": ("missing",),
        "why it does not stay up: kcluster logs": ("restarting", "failed"),
        "what is on its way: kcluster health --wait 120s": ("starting", "stopping"),
    }
    return "    ".join(f"{way} {spelled}" for way, about in ways.items() if set(about) & set(states))


def _problems(errors: Mapping[str, KclusterError]) -> tuple[StatusProblem, ...]:
    from kcluster.clients.ssh import ways_out  # lazily: local clusters need no SSH

    ways = ways_out(errors)
    return tuple(
        StatusProblem(host, error.message.removeprefix(f"{host}: "), ways[host], error.details)
        for host, error in errors.items()
    )


def _node(part: Part, node: Node, host: ObservedHost | KclusterError, role: str | None) -> NodeStatus:
    address = "{}:{}".format(*door(node))
    number = None if isinstance(node, SparkDaemon) else node.id
    if isinstance(host, KclusterError):
        return NodeStatus(node.name, node.host.name, node.kind, number, address, "unreachable", role or "")
    seen = host.nodes.get(node.name, _UNKNOWN)
    unit = seen.unit
    there = unit.state != "missing"
    return NodeStatus(
        node=node.name,
        host=node.host.name,
        kind=node.kind,
        id=number,
        address=address,
        state=_state(unit, serves=role is not None),
        role=role or "",
        pid=unit.pid,
        uptime_seconds=None if unit.uptime_seconds is None else int(unit.uptime_seconds),
        memory_bytes=unit.memory_bytes,
        restarts=unit.restarts if there else None,
        at_boot=unit.enabled if there else None,
        restart_needed=bool(restart_reasons.pending(Pair(part, node, host))) if unit.state == "active" else None,
    )


def _state(unit: ObservedUnit, *, serves: bool) -> str:
    """In the words of `status`; a unit between two attempts to start is one that does not come up."""
    if unit.state == "active":
        return "running" if serves else "starting"
    if unit.state == "activating" and unit.restarts:
        return "restarting"
    return _STATES.get(unit.state, "starting")
