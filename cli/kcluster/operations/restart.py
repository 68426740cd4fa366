"""`restart`: nodes of a live cluster, one at a time or in sets that every partition can spare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from kcluster.clients.ssh import Connections
from kcluster.journal import Journal
from kcluster.rollout.cluster_lock import locked
from kcluster.rollout.gates import Gates
from kcluster.rollout.node_selection import installed, select_nodes
from kcluster.rollout.order import ONE_BY_ONE, AtOnce, next_turn
from kcluster.rollout.roll import refuse_unsafe, roll

if TYPE_CHECKING:
    from kcluster.clients.ssh import Login
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
    from kcluster.results import Progress
    from kcluster.rollout.roll_report import RollReport

REASON = "asked for"


def restart(
    cluster: Cluster,
    client_config: Mapping[str, str],
    logins: Mapping[str, Login],
    names: Sequence[str],
    *,
    gate_timeout: float,
    unsafe_partitions: bool,
    at_once: AtOnce = ONE_BY_ONE,
    confirm: Callable[[Sequence[Sequence[Node]]], None],
    progress: Progress,
    words: Sequence[str],
) -> RollReport:
    """Restart the nodes of these names (all without names), brokers as many at once as `at_once` says.

    Blocks until the last one has caught up. `confirm` gets the nodes of each turn, as the cluster is now, before
    anything is stopped, and raises to call it off.
    """
    with Connections(logins) as hosts:
        gates = Gates(cluster, client_config, unsafe_partitions=unsafe_partitions, timeout=gate_timeout, hosts=hosts)
        nodes = plan(gates, names, hosts)
        confirm(foreseen(gates, nodes, at_once))
        return carry_out(gates, nodes, hosts, progress, words, at_once)


def plan(gates: Gates, names: Sequence[str], hosts: Connections) -> list[Node]:
    """The nodes to restart; RefusedError when one is not installed or no waiting makes its stop safe."""
    nodes = select_nodes(gates.cluster, names)
    installed(gates.cluster, nodes, hosts)
    refuse_unsafe(gates, [[node] for node in nodes])
    return nodes


def foreseen(gates: Gates, nodes: Sequence[Node], at_once: AtOnce) -> list[list[Node]]:
    """The turns in which these nodes would be restarted if all of the cluster stayed as it is now."""
    if at_once.most == 1:
        return [[node] for node in nodes]
    snapshot, leader = gates.snapshot((), nodes), cache(gates.leader)
    remaining, turns = list(nodes), []
    while remaining:
        turn = next_turn(remaining, gates.dead, leader, at_once)
        turns.append(snapshot.safe_set(turn, at_once.others).nodes)
        remaining = [node for node in remaining if node not in turns[-1]]
    return turns


def carry_out(
    gates: Gates,
    nodes: Sequence[Node],
    hosts: Connections,
    progress: Progress,
    words: Sequence[str],
    at_once: AtOnce = ONE_BY_ONE,
) -> RollReport:
    """Lock the cluster and roll the nodes; ApplyError at the first one that does not come back."""
    cluster = gates.cluster
    with locked(cluster, hosts, words) as lock, Journal.begin(cluster.name, words) as journal:
        reasons = {node.name: REASON for node in nodes}
        return roll(gates, reasons, hosts, progress, journal.note, lock, at_once)
