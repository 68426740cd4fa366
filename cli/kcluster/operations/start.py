"""`start`: the units of a cluster on hosts that do not run, the keepers of the metadata first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.clients.ssh import Connections
from kcluster.journal import Journal
from kcluster.results import Block, Cell, Progress, Result, Tone
from kcluster.rollout import diagnosis
from kcluster.rollout.cluster_lock import locked
from kcluster.rollout.diagnosis import StartMark
from kcluster.rollout.gates import Gates
from kcluster.rollout.node_selection import installed, select_nodes
from kcluster.rollout.order import start_stages
from kcluster.rollout.roll import Note, wait_after_start

if TYPE_CHECKING:
    from kcluster.clients.ssh import Login
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node

_WITHIN = 60.0


@dataclass(frozen=True)
class StartPlan:
    """What would be started, and what must serve in the end."""

    nodes: tuple[Node, ...]
    stopped: tuple[Node, ...]


@dataclass(frozen=True)
class StartReport(Result):
    """What was started, and where it serves."""

    name: str
    started: tuple[str, ...]
    bootstrap: str
    seconds: float

    def view(self) -> Iterable[Block]:
        """What was done, and where the cluster is."""
        what = f"started {', '.join(self.started)}" if self.started else "everything runs already"
        yield Cell(f"{self.name}: {what}, all serve after {self.seconds:.1f} s", Tone.GOOD)
        yield f"bootstrap: {self.bootstrap}"


def start(
    cluster: Cluster,
    client_config: Mapping[str, str],
    logins: Mapping[str, Login],
    names: Sequence[str],
    *,
    gate_timeout: float,
    confirm: Callable[[Sequence[Node]], None],
    progress: Progress,
    words: Sequence[str],
) -> StartReport:
    """Start the stopped nodes among these names (all without names); blocks until every one of them serves.

    `confirm` gets the nodes to start, if there are any, and raises to call it off.
    """
    with Connections(logins) as hosts:
        gates = Gates(cluster, client_config, timeout=gate_timeout, hosts=hosts)
        starts = plan(gates, names, hosts)
        if starts.stopped:
            confirm(starts.stopped)
        return carry_out(gates, starts, hosts, progress, words)


def plan(gates: Gates, names: Sequence[str], hosts: Connections) -> StartPlan:
    """The nodes of these names, and which of them do not run; RefusedError when one is not installed."""
    nodes = select_nodes(gates.cluster, names)
    units = installed(gates.cluster, nodes, hosts)
    return StartPlan(tuple(nodes), tuple(node for node in nodes if not units[node.name].running))


def carry_out(
    gates: Gates, starts: StartPlan, hosts: Connections, progress: Progress, words: Sequence[str]
) -> StartReport:
    """Lock the cluster and start the stopped nodes stage by stage; ApplyError when a stage does not serve in time."""
    cluster, began = gates.cluster, time.monotonic()
    with locked(cluster, hosts, words) as lock, Journal.begin(cluster.name, words) as journal:
        for stage in start_stages(starts.nodes):
            lock.check()
            _start_stage(stage, starts.stopped, gates, hosts, progress, journal.note)
    started = tuple(node.name for node in starts.stopped)
    return StartReport(cluster.name, started, cluster.bootstrap, round(time.monotonic() - began, 2))


def _start_stage(
    stage: Sequence[Node],
    stopped: Sequence[Node],
    gates: Gates,
    hosts: Connections,
    progress: Progress,
    note: Note,
) -> None:
    """Start the stopped nodes of a stage and wait until all of its nodes serve, also those that ran already."""
    to_start = [node for node in stage if node in stopped]
    if to_start:
        progress(f"starting {', '.join(node.name for node in to_start)}")
    marks = diagnosis.command("start", to_start, hosts, within=_WITHIN) if to_start else []
    marks += [StartMark(node) for node in stage if node not in stopped]
    if marks:
        wait_after_start(marks, hosts, progress, gates.timeout, lambda: gates.serving(stage))
    for node in to_start:
        note("step", phase="start", host=node.host.name, what=f"start {node.name}", status="ok")
