"""`start`: the units of a cluster on hosts that do not run, the keepers of the metadata first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.journal import Journal
from kcluster.results import Block, Cell, Progress, Result, Tone
from kcluster.rollout import diagnosis
from kcluster.rollout.cluster_lock import locked
from kcluster.rollout.diagnosis import StartMark
from kcluster.rollout.node_selection import installed, select_nodes, stages
from kcluster.rollout.roll import Note, come_back

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.node import Node
    from kcluster.rollout.diagnosis import UnitState
    from kcluster.rollout.gates import Gates

_WITHIN = 60.0


@dataclass(frozen=True)
class StartPlan:
    """What would be started, and what must serve in the end."""

    nodes: tuple[Node, ...]
    idle: tuple[Node, ...]


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


def plan(gates: Gates, names: Sequence[str], hosts: Connections) -> StartPlan:
    """What would be started."""
    nodes = select_nodes(gates.cluster, names)
    found: Mapping[str, UnitState] = installed(gates.cluster, nodes, hosts)
    return StartPlan(tuple(nodes), tuple(node for node in nodes if not found[node.name].running))


def start(gates: Gates, starts: StartPlan, hosts: Connections, progress: Progress, words: Sequence[str]) -> StartReport:
    """Start what does not run, stage by stage, and wait until it serves."""
    cluster, began = gates.cluster, time.monotonic()
    with locked(cluster, hosts, words) as lock, Journal.begin(cluster.name, words) as journal:
        for stage in stages(starts.nodes):
            lock.check()
            _bring_up(stage, starts.idle, gates, hosts, progress, journal.note)
    idle = tuple(node.name for node in starts.idle)
    return StartReport(cluster.name, idle, cluster.bootstrap, round(time.monotonic() - began, 2))


def _bring_up(
    stage: Sequence[Node],
    idle: Sequence[Node],
    gates: Gates,
    hosts: Connections,
    progress: Progress,
    note: Note,
) -> None:
    """Start what is idle of a stage; a node that ran already must serve as well."""
    fresh = [node for node in stage if node in idle]
    if fresh:
        progress(f"starting {', '.join(node.name for node in fresh)}")
    began = diagnosis.command("start", fresh, hosts, within=_WITHIN) if fresh else []
    every = [*began, *(StartMark(node) for node in stage if node not in idle)]
    if every:
        come_back(every, hosts, progress, gates.patience, lambda: gates.serving(stage))
    for node in fresh:
        note("step", phase="start", host=node.host.name, what=f"start {node.name}", status="ok")
