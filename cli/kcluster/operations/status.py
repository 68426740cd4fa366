"""`status`: the nodes of a local cluster, asked over the wire, and their processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kcluster import local
from kcluster.clients import ports, processes, zookeeper
from kcluster.errors import ExitCode, KclusterError
from kcluster.local import readiness
from kcluster.local.record import Record
from kcluster.model.broker import Broker
from kcluster.model.ensemble import Server
from kcluster.model.node import Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.results import Block, Cell, Grid, Result, Tone

_TONES = {"running": Tone.GOOD, "starting": Tone.WARN, "stopped": Tone.DIM, "crashed": Tone.BAD}


@dataclass(frozen=True)
class NodeStatus:
    """One node: its process, and what it is in the cluster."""

    node: str
    host: str
    kind: str
    id: int
    address: str
    state: str
    role: str
    pid: int | None
    uptime_seconds: int | None
    memory_bytes: int | None


@dataclass(frozen=True)
class Status(Result):
    """Every node of a local cluster."""

    name: str
    release: str
    bootstrap: str
    directory: str
    nodes: tuple[NodeStatus, ...]

    @property
    def exit_code(self) -> ExitCode:
        """NO unless every node runs."""
        return ExitCode.DONE if all(node.state == "running" for node in self.nodes) else ExitCode.NO

    def view(self) -> Iterable[Block]:
        """A row for each node, then one line that says it all."""
        yield Grid(
            ("NODE", "HOST", "ID", "ADDRESS", "STATE", "ROLE", "PID", "UPTIME", "MEMORY"),
            [_row(node) for node in self.nodes],
        )
        running = sum(node.state == "running" for node in self.nodes)
        every = running == len(self.nodes)
        yield Cell(
            f"{self.name}: Kafka {self.release}, {running} of {len(self.nodes)} nodes run, bootstrap {self.bootstrap}",
            Tone.GOOD if every else Tone.BAD,
        )
        if not every:
            yield f"start what is missing: kcluster up -n {self.name}"


@dataclass(frozen=True)
class ClusterLine:
    """One local cluster among several."""

    name: str
    release: str
    running: int
    nodes: int
    bootstrap: str
    origin: str


@dataclass(frozen=True)
class Clusters(Result):
    """All local clusters."""

    clusters: tuple[ClusterLine, ...]

    def data(self) -> Any:
        """A list."""
        return [vars(line) for line in self.clusters]

    def view(self) -> Iterable[Block]:
        """A row for each cluster."""
        yield Grid(
            ("CLUSTER", "KAFKA", "NODES", "BOOTSTRAP", "MADE FROM"),
            [(c.name, c.release, f"{c.running} of {c.nodes} run", c.bootstrap, c.origin) for c in self.clusters],
        )
        yield "the nodes of one: kcluster status -n NAME"


def clusters() -> Clusters:
    """Every local cluster in one line."""
    return Clusters(tuple(_line(local.record(name)) for name in local.names()))


def status(name: str) -> Status:
    """The nodes of one local cluster; it works as well when nothing runs."""
    record = local.record(name)
    roles = _roles(record)
    cluster = record.cluster
    nodes = tuple(_node(record, node, roles.get(node.name)) for node in cluster.nodes)
    return Status(cluster.name, cluster.release.version, cluster.bootstrap, str(record.root), nodes)


def _line(record: Record) -> ClusterLine:
    cluster = record.cluster
    running = sum(record.runs(node.name) for node in cluster.nodes)
    origin = record.origin.inventory or "options of `kcluster up`"
    return ClusterLine(cluster.name, cluster.release.version, running, len(cluster.nodes), cluster.bootstrap, origin)


def _node(record: Record, node: Node, role: str | None) -> NodeStatus:
    entry = record.started.get(node.name)
    running = record.runs(node.name)
    return NodeStatus(
        node=node.name,
        host=node.host.name,
        kind=node.kind,
        id=node.id,
        address=f"{node.host.address}:{readiness.door(node)}",
        state=("running" if role is not None else "starting") if running else ("crashed" if entry else "stopped"),
        role=role or "",
        pid=entry.process.pid if entry and running else None,
        uptime_seconds=int(processes.uptime(entry.process)) if entry and running else None,
        memory_bytes=processes.memory(entry.process) if entry and running else None,
    )


def _roles(record: Record) -> dict[str, str]:
    """What each node that serves is in the cluster; a node that does not answer is missing here."""
    living = [node for node in record.cluster.nodes if _answers(record, node)]
    roles = {node.name: "" for node in living if isinstance(node, Controller)}
    for server in (node for node in living if isinstance(node, Server)):
        if mode := zookeeper.mode(server.host.address, server.client_port):
            roles[server.name] = mode
    roles |= _broker_roles([node for node in living if isinstance(node, Broker)])
    if isinstance(record.cluster.metadata, Quorum):
        roles |= _quorum_roles(record.cluster.metadata, roles)
    return roles


def _answers(record: Record, node: Node) -> bool:
    """Whether the node's own process accepts connections."""
    return record.runs(node.name) and ports.held_by(record.started[node.name].process.pid, readiness.door(node))


def _broker_roles(brokers: list[Broker]) -> dict[str, str]:
    """The brokers that are registered; with ZooKeeper one of them is the controller."""
    if not brokers:
        return {}
    from kcluster.clients.kafka import Kafka  # lazily: a stopped cluster needs no client

    try:
        metadata = Kafka(",".join(broker.internal.address for broker in brokers)).metadata()
    except KclusterError:
        return {}
    controller = metadata.controller_id
    return {b.name: "controller" if b.id == controller else "" for b in brokers if b.id in metadata.brokers}


def _quorum_roles(quorum: Quorum, roles: dict[str, str]) -> dict[str, str]:
    """The leader of the quorum and its followers; no broker is controller, whatever its metadata answer says."""
    from kcluster.clients import wire

    changed = {name: "" for name, role in roles.items() if role == "controller"}
    for controller in (each for each in quorum.controllers if each.name in roles):
        try:
            leader = wire.quorum(controller.host.address, controller.port).leader
        except KclusterError:
            continue
        names = {each.name: "leader" if each.id == leader else "follower" for each in quorum.controllers}
        return changed | {name: role for name, role in names.items() if name in roles}
    return changed


def _row(node: NodeStatus) -> list[str | Cell]:
    return [
        node.node,
        node.host,
        str(node.id),
        node.address,
        Cell(node.state, _TONES[node.state]),
        node.role,
        str(node.pid or ""),
        _duration(node.uptime_seconds),
        f"{node.memory_bytes >> 20} MiB" if node.memory_bytes else "",
    ]


def _duration(seconds: int | None) -> str:
    """ "3 h 12 min" and the like: the two units that matter."""
    if seconds is None:
        return ""
    units = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    parts: list[str] = []
    for size, unit in units:
        count, seconds = divmod(seconds, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
