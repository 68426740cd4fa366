"""`stop`: the units of a cluster on hosts, brokers first; single nodes only when the others can do without them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.clients.ssh import Connections
from kcluster.journal import Journal
from kcluster.results import Block, Cell, Progress, Result, Tone
from kcluster.rollout import diagnosis
from kcluster.rollout.cluster_lock import Lock, locked
from kcluster.rollout.diagnosis import LockLostError
from kcluster.rollout.gates import Gates
from kcluster.rollout.node_selection import installed, select_nodes
from kcluster.rollout.order import start_stages
from kcluster.rollout.roll import STOP_WITHIN, refuse_unsafe, take_again, wait_for_turn

if TYPE_CHECKING:
    from kcluster.clients.ssh import Login
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node


@dataclass(frozen=True)
class StopPlan:
    """What would be stopped."""

    nodes: tuple[Node, ...]
    whole: bool
    """Whether nothing of the cluster would be left."""

    def question(self, cluster: str) -> str:
        """What to ask before it is done."""
        names = ", ".join(node.name for node in self.nodes)
        if self.whole:
            return (
                f"This takes the whole cluster {cluster} down, and nobody can use it until it is started: stop {names}?"
            )
        return f"Stop {names} of {cluster}?"


@dataclass(frozen=True)
class StopReport(Result):
    """What was stopped."""

    name: str
    stopped: tuple[str, ...]
    killed: tuple[str, ...]
    """Those that systemd had to kill; their next start checks all their logs."""
    seconds: float

    def view(self) -> Iterable[Block]:
        """What was done, and what to know about it."""
        if not self.stopped:
            yield f"{self.name}: nothing of it was running"
            return
        yield Cell(f"{self.name}: stopped {', '.join(self.stopped)} in {self.seconds:.1f} s", Tone.GOOD)
        if self.killed:
            yield Cell(f"did not stop in time and had to be killed: {', '.join(self.killed)}", Tone.WARN)
        yield "start again: kcluster start -i INV    a host that boots starts its units by itself"


def stop(
    cluster: Cluster,
    client_config: Mapping[str, str],
    logins: Mapping[str, Login],
    names: Sequence[str],
    *,
    gate_timeout: float,
    unsafe_partitions: bool,
    confirm: Callable[[StopPlan], None],
    progress: Progress,
    words: Sequence[str],
) -> StopReport:
    """Stop the nodes of these names (the whole cluster without names); blocks until they have stopped.

    `confirm` gets the plan when something runs, and raises to call it off.
    """
    with Connections(logins) as hosts:
        gates = Gates(cluster, client_config, unsafe_partitions=unsafe_partitions, timeout=gate_timeout, hosts=hosts)
        stops = plan(gates, names, hosts)
        if stops.nodes:
            confirm(stops)
        return carry_out(gates, stops, hosts, progress, words)


def plan(gates: Gates, names: Sequence[str], hosts: Connections) -> StopPlan:
    """What would be stopped; what cannot be made safe is refused before anybody is asked."""
    nodes = select_nodes(gates.cluster, names)
    found = installed(gates.cluster, nodes, hosts)
    running = tuple(node for node in nodes if found[node.name].running)
    whole = len(nodes) == len(gates.cluster.every_node)
    if not whole:
        refuse_unsafe(gates, [running], action="stop")
    return StopPlan(running, whole)


def carry_out(
    gates: Gates, stops: StopPlan, hosts: Connections, progress: Progress, words: Sequence[str]
) -> StopReport:
    """Lock the cluster and stop the nodes, brokers before the metadata quorum: they hand their leaders over first."""
    cluster, began = gates.cluster, time.monotonic()
    with locked(cluster, hosts, words) as lock, Journal.begin(cluster.name, words) as journal:
        stopped: list[Node] = []

        def turn() -> None:
            if stops.whole:
                return lock.check()
            left = [node for node in stops.nodes if node not in stopped]
            state = f"stopped: {', '.join(node.name for node in stopped) or 'nothing'}"
            return wait_for_turn(gates, left, lock, progress, state=state)

        for nodes in reversed(start_stages(stops.nodes)):
            _stop(nodes, turn, lock, hosts, progress)
            stopped += nodes
            for node in nodes:
                journal.note("step", phase="stop", host=node.host.name, what=f"stop {node.name}", status="ok")
        killed = _killed(stops.nodes, hosts)
    names_stopped = tuple(node.name for node in stops.nodes)
    return StopReport(cluster.name, names_stopped, killed, round(time.monotonic() - began, 2))


def _stop(nodes: Sequence[Node], turn: Callable[[], None], lock: Lock, hosts: Connections, progress: Progress) -> None:
    """Stop nodes of one kind when it is their turn; it is asked again when a host has lost the lock meanwhile."""
    turn()
    progress(f"stopping {', '.join(node.name for node in nodes)}")
    try:
        diagnosis.command("stop", nodes, hosts, within=STOP_WITHIN, guard=lock.guard)
    except LockLostError as lost:
        take_again(lock, lost, progress)
        _stop(nodes, turn, lock, hosts, progress)


def _killed(nodes: Sequence[Node], hosts: Connections) -> tuple[str, ...]:
    found = diagnosis.units(nodes, hosts) if nodes else {}
    return tuple(name for name, unit in found.items() if unit.result == "timeout")
