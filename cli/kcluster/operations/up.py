"""`up`: start a local cluster, or its missing nodes; they keep running when the command returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kcluster import render
from kcluster.clients import java, ports
from kcluster.errors import RefusedError
from kcluster.local import cluster_lock, layout, node_files, node_log, readiness, shutdown, up_request
from kcluster.local.class_archives import Archives
from kcluster.local.cluster_record import ClusterRecord, UpOrigin, owned_ports
from kcluster.local.launcher import Launcher, PreparedNode
from kcluster.local.up_request import UpRequest
from kcluster.model.cluster import Cluster
from kcluster.model.finding import listed
from kcluster.model.node import Node
from kcluster.model.quorum import Quorum
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone

_GIVE_UP = 10.0
"""Seconds for a node of a failed start to stop before it is killed; it has no data yet."""


@dataclass(frozen=True)
class UpReport(Result):
    """A local cluster that serves, and what was started."""

    name: str
    bootstrap: str
    nodes: tuple[str, ...]
    started: tuple[str, ...]
    restart: tuple[str, ...]
    """Running nodes whose settings have changed since their start."""
    gone: tuple[str, ...]
    """Running nodes that are no longer in the cluster."""
    seconds: float

    def view(self) -> Iterable[Block]:
        """What was started, what needs a restart, the address, and the next commands."""
        if self.started:
            yield f"started {listed(self.started)} in {self.seconds:.1f} s"
        else:
            yield "all nodes are running, nothing was changed"
        again = f"kcluster down -n {self.name} && kcluster up -n {self.name}"
        if self.restart:
            yield Cell(f"restart needed for changed settings of {listed(self.restart)}: {again}", Tone.WARN)
        if self.gone:
            yield Cell(
                f"no longer in the cluster but still running: {listed(self.gone)}; stop them: {again}",
                Tone.WARN,
            )
        yield Cell(f"{self.name} serves at {self.bootstrap}", Tone.GOOD)
        yield f"status: kcluster status -n {self.name}    stop: kcluster down -n {self.name}"


@dataclass(frozen=True)
class Planned:
    """A node of the plan."""

    node: str
    action: str
    ports: str
    directory: str


@dataclass(frozen=True)
class UpPlan(Result):
    """What `up` would do, for --dry-run."""

    name: str
    release: str
    nodes: tuple[Planned, ...]

    def view(self) -> Iterable[Block]:
        """A row for each node."""
        yield f"{self.name}: Kafka {self.release}"
        yield Grid(
            ("NODE", "ACTION", "PORTS", "DIRECTORY"),
            [(row.node, row.action, row.ports, row.directory) for row in self.nodes],
        )
        yield "nothing was changed (--dry-run)"


def plan(request: UpRequest) -> UpPlan:
    """The nodes `up` would start, with ports and directories; changes nothing."""
    cluster, origin, known = up_request.requested_cluster(request, _accepted)
    record = _record(cluster, origin, known, ports.free)
    rows = [
        Planned(
            node.name,
            "none, it runs" if record.runs(node.name) else "start",
            ", ".join(f"{purpose} {port}" for purpose, port in layout.ports_of(node)),
            str(layout.folder(record.root, node.name)),
        )
        for node in record.cluster.nodes
    ]
    return UpPlan(cluster.name, cluster.release.version, tuple(rows))


def up(request: UpRequest, progress: Progress) -> UpReport:
    """Start the missing nodes of a local cluster; returns when every node serves, ApplyError when one dies."""
    from kcluster.releases.fetch import fetch  # lazily: `--dry-run` needs none of it

    begin = time.monotonic()
    cluster, origin, _ = up_request.requested_cluster(request, _accepted)
    runtime = java.require(cluster.release.java, f"Kafka {cluster.release.version}")
    with cluster_lock.locked(up_request.cluster_dir(cluster.name), cluster.name), ports.Reservation() as reservation:
        home = fetch(cluster.release, progress)
        record = replace(_with_ports(cluster, origin, reservation, progress), release_home=str(home))
        nodes = [_prepared(record, node.name) for node in record.cluster.nodes]
        missing = [each for each in nodes if not record.runs(each.node.name)]
        _refuse_taken_ports(missing, reservation)
        record.save()
        if missing:
            progress(f"starting {listed([each.node.name for each in missing])}")
        record = _bring_up(record, Launcher(home, Archives.of(home, runtime)), missing, progress)
    return _result(record, nodes, missing, time.monotonic() - begin)


def _accepted(path: Path) -> Cluster:
    """The cluster of an inventory, after all rules of `validate`; InventoryError where it is refused."""
    from kcluster import inventory  # lazily: a cluster without an inventory needs none of it
    from kcluster.operations import validate

    return validate.accepted(inventory.load(path))


def _with_ports(
    cluster: Cluster, origin: UpOrigin, reservation: ports.Reservation, progress: Progress
) -> ClusterRecord:
    """The record with every port chosen; reports each configured port that another process uses, once."""
    known = ClusterRecord.load(up_request.cluster_dir(cluster.name))
    record = _record(cluster, origin, known, lambda port: ports.free(port) and reservation.take(port))
    reported: set[int] = set()
    for purpose, port in layout.configured_ports(cluster).items():
        new = not known or purpose not in known.ports
        if new and port not in reported and port not in record.ports.values() and (holder := ports.holder(port)):
            reported.add(port)
            progress(f"port {port} is used by {holder}: using {record.ports[purpose]} for {purpose}")
    return record


def _record(
    cluster: Cluster, origin: UpOrigin, known: ClusterRecord | None, free: Callable[[int], bool]
) -> ClusterRecord:
    """The record of the cluster with its local layout, and the ports, release and processes known so far."""
    root = up_request.cluster_dir(cluster.name)
    taken = owned_ports(besides=cluster.name)
    kept = known.ports if known else {}
    chosen = layout.choose_ports(layout.configured_ports(cluster), kept, lambda port: port not in taken and free(port))
    placed = layout.place(cluster, layout.Placement(root, chosen))
    started = known.living() | {n: s for n, s in known.started.items() if placed.find(n)} if known else {}
    home = known.release_home if known else ""
    return ClusterRecord(root, placed, origin, {**kept, **chosen}, home, started)


def _prepared(record: ClusterRecord, name: str) -> PreparedNode:
    """A node after its files were written."""
    (node,) = record.cluster.find(name)
    files = node_files.placed_here(render.files(record.cluster, node, reveal=True))
    node_files.write(node, files)
    return PreparedNode(node, files, node_files.digest(files, record.release_home))


def _refuse_taken_ports(missing: Iterable[PreparedNode], reservation: ports.Reservation) -> None:
    taken = [
        f"port {port} of {each.node.name} ({purpose}) is used by {ports.described(port)}"
        for each in missing
        for purpose, port in layout.ports_of(each.node)
        if not (ports.free(port) and reservation.take(port))
    ]
    if taken:
        raise RefusedError(taken[0], details="\n".join(taken[1:]), resolution="end that process, then: kcluster up")


def _bring_up(
    record: ClusterRecord, launcher: Launcher, missing: Sequence[PreparedNode], progress: Progress
) -> ClusterRecord:
    """Start the missing nodes and wait until all serve; on failure or Ctrl-C stop them again."""
    sizes = {each.node.name: node_log.size(node_log.main_log(each.node)) for each in missing}
    by_name = {each.node.name: each for each in missing}

    def again(before: ClusterRecord, node: Node) -> ClusterRecord:
        if node.name not in reported:
            reported.add(node.name)
            progress(f"{node.name} is still registered in ZooKeeper from its last run: starting it until that expires")
        return launcher.start(before, [by_name[node.name]], ClusterRecord.save)

    reported: set[str] = set()
    try:
        if isinstance(record.cluster.metadata, Quorum):
            launcher.format(missing, record.cluster.metadata)
        record = launcher.start(record, missing, ClusterRecord.save)
        record = readiness.wait(record, sizes, again)
    except BaseException:  # also Ctrl-C: nothing is left half-running
        _stop_started(record.root, sizes)
        raise
    launcher.check_archives(record, missing)
    return record


def _stop_started(root: Path, names: Iterable[str]) -> None:
    record = ClusterRecord.load(root)
    if record:
        ours = [name for name in names if name in record.started]
        shutdown.stop(record, ours, _silent, ClusterRecord.save, patience=_GIVE_UP, orderly=False)


def _silent(_: str) -> None:
    """Progress is not shown: the error follows."""


def _result(
    record: ClusterRecord, nodes: Sequence[PreparedNode], missing: Sequence[PreparedNode], seconds: float
) -> UpReport:
    names = tuple(each.node.name for each in nodes)
    return UpReport(
        name=record.cluster.name,
        bootstrap=record.cluster.bootstrap,
        nodes=names,
        started=tuple(each.node.name for each in missing),
        restart=tuple(e.node.name for e in nodes if record.started[e.node.name].digest != e.digest),
        gone=tuple(name for name in record.living() if name not in names),
        seconds=round(seconds, 2),
    )
