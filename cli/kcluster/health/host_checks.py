"""The checks of `kcluster health` on the hosts: units, start at boot, free disk space."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError
from kcluster.facts import spark_masters
from kcluster.model.cluster import Cluster
from kcluster.model.node import Node
from kcluster.model.observed import ObservedHost, ObservedNode, ObservedUnit
from kcluster.model.running import Running
from kcluster.model.spark_cluster import SparkCluster, SparkMaster
from kcluster.results import Check, counted, few

if TYPE_CHECKING:
    from kcluster.facts.running import Seen

LITTLE_ROOM, NO_ROOM = 0.10, 0.02
"""The free parts of a disk below which it is worth a warning, and below which the broker is about to die."""
RECENTLY = 600.0
"""Seconds a process must have run since it ended by itself, before it counts as sound again."""

_NOTHING = ObservedNode(ObservedUnit("missing"))


def host_checks(cluster: Cluster, seen: Seen) -> list[Check]:
    """Every question that what was seen on the hosts can answer."""
    nodes = [_Found(node, host.nodes.get(node.name, _NOTHING)) for node, host in _told(cluster, seen)]
    hosts = {name: found for there in seen for name, found in there.items()}
    # A Spark master ends when it loses its lead, as when a ZooKeeper server restarts, and systemd starts it again.
    steady = [one for one in nodes if not isinstance(one.node, SparkMaster)]
    return [_reachable(hosts), _run(nodes), _steady(steady), _at_boot(nodes), _room(nodes)]


@dataclass(frozen=True)
class _Found:
    node: Node
    seen: ObservedNode

    @property
    def unit(self) -> ObservedUnit:
        return self.seen.unit


def _told(cluster: Cluster, seen: Seen) -> Iterator[tuple[Node, ObservedHost]]:
    for part, there in zip(cluster.parts, seen, strict=True):
        for node in part.nodes:
            host = there[node.host.name]
            if isinstance(host, ObservedHost):
                yield node, host


def spark_check(engine: SparkCluster) -> Check:
    """A master leads, and knows every worker."""
    if faults := spark_masters.missing(engine, engine.nodes):
        said = {word for fault in faults for word in str(fault).split()}
        subject = few(node.name for node in engine.nodes if node.name in said)
        return Check("Spark serves", False, few(map(str, faults), "; "), subject)
    return Check("Spark serves", True, f"leads {counted(len(engine.workers), 'worker')}", spark_masters.leader(engine))


def address_check(cluster: Cluster, running: Running) -> Check:
    """Processes take connections where the inventory has them; one that was edited needs a provision, no repair."""
    moved = running.moved(cluster)
    detail = f"{len(cluster.nodes) - len(moved)} of {len(cluster.nodes)} run where the inventory has them"
    if moved:
        detail += f"; {few((f'{node} {where}' for node, where in moved.items()), '; ')} (kcluster plan shows the rest)"
    return Check("inventory addresses", True, detail, few(moved), warning=bool(moved))


def reach_check(cluster: Cluster, closed: Collection[str]) -> Check:
    """This machine reaches the processes itself; clients from here, as the smoke test, must."""
    hosts = [host.name for host in cluster.hosts]
    detail = f"of {len(hosts) - len(closed)} of {len(hosts)} hosts the ports are reached from this machine"
    if closed:
        detail += f"; of {few(sorted(closed))} SSH only, so their nodes were asked from the host itself"
    return Check("ports from here", True, detail, few(sorted(closed)), warning=bool(closed))


def _reachable(seen: Mapping[str, ObservedHost | KclusterError]) -> Check:
    lost = {host: found for host, found in seen.items() if isinstance(found, KclusterError)}
    detail = f"{len(seen) - len(lost)} of {len(seen)} answer over SSH"
    if lost:
        detail += f"; {few(f'{found.message}' for found in lost.values())}"
    return Check("hosts reachable", not lost, detail, few(lost))


def _run(nodes: list[_Found]) -> Check:
    """A unit that systemd gave up, or that was stopped, will not come back by itself."""
    return _every("units run", nodes, lambda one: "" if one.unit.state == "active" else one.unit.state)


def _steady(nodes: list[_Found]) -> Check:
    """A process that ends by itself is started again and looks well in between."""

    def fault(one: _Found) -> str:
        fresh = one.unit.uptime_seconds is None or one.unit.uptime_seconds < RECENTLY
        if not one.unit.restarts or not fresh:
            return ""
        age = "" if one.unit.uptime_seconds is None else f", the last {one.unit.uptime_seconds:.0f} s ago"
        return f"was restarted by systemd {counted(one.unit.restarts, 'time')}{age}"

    return _every("units steady", nodes, fault)


def _at_boot(nodes: list[_Found]) -> Check:
    there = [one for one in nodes if one.unit.state != "missing"]
    return _every("units start at boot", there, lambda one: "" if one.unit.enabled else "not enabled")


def _every(name: str, nodes: list[_Found], fault: Callable[[_Found], str]) -> Check:
    """A question whose answer is no for the nodes that have a fault."""
    faults = {one.node.name: text for one in nodes if (text := fault(one))}
    detail = f"{len(nodes) - len(faults)} of {len(nodes)}"
    if faults:
        detail += f"; {few(f'{node} {text}' for node, text in faults.items())}"
    return Check(name, not faults, detail, few(faults))


def _room(nodes: list[_Found]) -> Check:
    """A broker whose disk is full stops, and so does a ZooKeeper server."""
    free = {
        f"{one.node.host.name}:{path}": directory.free_bytes / directory.total_bytes
        for one in nodes
        for path, directory in one.seen.directories.items()
        if directory.total_bytes
    }
    if not free:
        return Check("disk room", False, "no data directory exists yet")
    tight = {place: part for place, part in sorted(free.items(), key=lambda pair: pair[1]) if part < LITTLE_ROOM}
    least = min(free.values())
    detail = (
        f"{least:.0%} free at least" if not tight else few(f"{place} {part:.1%} free" for place, part in tight.items())
    )
    return Check("disk room", least >= NO_ROOM, detail, few(tight), warning=bool(tight) and least >= NO_ROOM)
