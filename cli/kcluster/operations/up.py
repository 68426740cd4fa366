"""`up`: a cluster on this machine, or what is missing of it; it runs on when the command returns."""

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
from kcluster.local.launcher import Launcher, Ready
from kcluster.local.up_request import UpRequest
from kcluster.model.cluster import Cluster
from kcluster.model.node import Node
from kcluster.model.quorum import Quorum
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone

_GIVE_UP = 10.0
"""Seconds a node of a failed start may take to stop before it is killed; it holds no data yet."""


@dataclass(frozen=True)
class UpReport(Result):
    """A cluster that serves, and what was done for it."""

    name: str
    bootstrap: str
    nodes: tuple[str, ...]
    started: tuple[str, ...]
    restart: tuple[str, ...]
    """Nodes that run with other settings than the inventory has now."""
    gone: tuple[str, ...]
    """Nodes that run though they are no longer in the cluster."""
    seconds: float

    def view(self) -> Iterable[Block]:
        """What serves where, what was done, and what to do next."""
        if self.started:
            yield f"started {_listed(self.started)} in {self.seconds:.1f} s"
        else:
            yield "every node was running, nothing was changed"
        again = f"kcluster down -n {self.name} && kcluster up -n {self.name}"
        if self.restart:
            yield Cell(f"changed settings wait for a restart of {_listed(self.restart)}: {again}", Tone.WARN)
        if self.gone:
            yield Cell(f"no longer part of the cluster, and still running: {_listed(self.gone)}: {again}", Tone.WARN)
        yield Cell(f"{self.name} serves at {self.bootstrap}", Tone.GOOD)
        yield f"look: kcluster status -n {self.name}    stop: kcluster down -n {self.name}"


@dataclass(frozen=True)
class Planned:
    """A node of the plan."""

    node: str
    action: str
    ports: str
    directory: str


@dataclass(frozen=True)
class UpPlan(Result):
    """What `up` would do."""

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


def plan(wanted: UpRequest) -> UpPlan:
    """What `up` would start, where, and on which ports."""
    cluster, origin, known = up_request.grant(wanted, _accepted)
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


def up(wanted: UpRequest, progress: Progress) -> UpReport:
    """Start what is missing of a local cluster and return when all of it serves."""
    from kcluster.releases.fetch import fetch  # lazily: `--dry-run` needs none of it

    begin = time.monotonic()
    cluster, origin, _ = up_request.grant(wanted, _accepted)
    found = java.require(cluster.release.java, f"Kafka {cluster.release.version}")
    with cluster_lock.locked(up_request.cluster_dir(cluster.name), cluster.name), ports.Reservation() as reservation:
        home = fetch(cluster.release, progress)
        record = replace(_chosen(cluster, origin, reservation, progress), release_home=str(home))
        ready = [_written(record, node.name) for node in record.cluster.nodes]
        missing = [each for each in ready if not record.runs(each.node.name)]
        _refuse_taken_ports(missing, reservation)
        record.save()
        if missing:
            progress(f"starting {_listed([each.node.name for each in missing])}")
        record = _bring_up(record, Launcher(home, Archives.of(home, found)), missing, progress)
    return _result(record, ready, missing, time.monotonic() - begin)


def _accepted(path: Path) -> Cluster:
    """The cluster of an inventory, which has to be right as on real hosts."""
    from kcluster import inventory  # lazily: a cluster without an inventory needs none of it
    from kcluster.operations import validate

    return validate.accepted(inventory.load(path))


def _chosen(cluster: Cluster, origin: UpOrigin, reservation: ports.Reservation, progress: Progress) -> ClusterRecord:
    """The record with every port chosen; a port that somebody else holds is told, once."""
    known = ClusterRecord.load(up_request.cluster_dir(cluster.name))
    record = _record(cluster, origin, known, lambda port: ports.free(port) and reservation.take(port))
    told: set[int] = set()
    for purpose, port in layout.wanted_ports(cluster).items():
        new = not known or purpose not in known.ports
        if new and port not in told and port not in record.ports.values() and (holder := ports.holder(port)):
            told.add(port)
            progress(f"port {port} is held by {holder}: {purpose} is {record.ports[purpose]}")
    return record


def _record(
    cluster: Cluster, origin: UpOrigin, known: ClusterRecord | None, free: Callable[[int], bool]
) -> ClusterRecord:
    """The record of the cluster as it is wanted, with all that is remembered of it."""
    root = up_request.cluster_dir(cluster.name)
    taken = owned_ports(besides=cluster.name)
    kept = known.ports if known else {}
    chosen = layout.choose_ports(layout.wanted_ports(cluster), kept, lambda port: port not in taken and free(port))
    placed = layout.place(cluster, layout.Placement(root, chosen))
    started = known.living() | {n: s for n, s in known.started.items() if placed.find(n)} if known else {}
    home = known.release_home if known else ""
    return ClusterRecord(root, placed, origin, {**kept, **chosen}, home, started)


def _written(record: ClusterRecord, name: str) -> Ready:
    """A node with its files written."""
    (node,) = record.cluster.find(name)
    files = node_files.placed_here(render.files(record.cluster, node, reveal=True))
    node_files.write(node, files)
    return Ready(node, files, node_files.digest(files, record.release_home))


def _refuse_taken_ports(missing: Iterable[Ready], reservation: ports.Reservation) -> None:
    taken = [
        f"port {port} of {each.node.name} ({purpose}) is held by {ports.described(port)}"
        for each in missing
        for purpose, port in layout.ports_of(each.node)
        if not (ports.free(port) and reservation.take(port))
    ]
    if taken:
        raise RefusedError(
            taken[0], details="\n".join(taken[1:]), resolution="end that process, then run `kcluster up` again"
        )


def _bring_up(record: ClusterRecord, launcher: Launcher, missing: Sequence[Ready], progress: Progress) -> ClusterRecord:
    """Start the missing nodes and wait until all serve; if that fails, stop again what was started."""
    sizes = {each.node.name: node_log.size(node_log.main_log(each.node)) for each in missing}
    by_name = {each.node.name: each for each in missing}

    def again(before: ClusterRecord, node: Node) -> ClusterRecord:
        if node.name not in told:
            told.add(node.name)
            progress(
                f"ZooKeeper still knows {node.name} from before it was killed: starting it until that is forgotten"
            )
        return launcher.start(before, [by_name[node.name]], ClusterRecord.save)

    told: set[str] = set()
    try:
        if isinstance(record.cluster.metadata, Quorum):
            launcher.format(missing, record.cluster.metadata)
        record = launcher.start(record, missing, ClusterRecord.save)
        record = readiness.wait(record, sizes, again)
    except BaseException:  # also Ctrl-C: nothing is left half-running
        _take_back(record.root, sizes)
        raise
    launcher.check_archives(record, missing)
    return record


def _take_back(root: Path, names: Iterable[str]) -> None:
    record = ClusterRecord.load(root)
    if record:
        ours = [name for name in names if name in record.started]
        shutdown.stop(record, ours, _silent, ClusterRecord.save, patience=_GIVE_UP, orderly=False)


def _silent(_: str) -> None:
    """The error that follows says all there is to say."""


def _result(record: ClusterRecord, ready: Sequence[Ready], missing: Sequence[Ready], seconds: float) -> UpReport:
    names = tuple(each.node.name for each in ready)
    return UpReport(
        name=record.cluster.name,
        bootstrap=record.cluster.bootstrap,
        nodes=names,
        started=tuple(each.node.name for each in missing),
        restart=tuple(e.node.name for e in ready if record.started[e.node.name].digest != e.digest),
        gone=tuple(name for name in record.living() if name not in names),
        seconds=round(seconds, 2),
    )


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
