"""For the action `gate`: which node is restarted next, and the gates before its stop and after its start."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kcluster import inventory
from kcluster.clients.ssh import CommandResult, Connections
from kcluster.model.cluster import Cluster
from kcluster.model.node import Kind, Node
from kcluster.results import Progress
from kcluster.rollout import diagnosis, node_selection, roll
from kcluster.rollout.diagnosis import StartMark
from kcluster.rollout.gates import GATE_TIMEOUT, Gates
from kcluster.rollout.order import next_node

__all__ = ["GATE_TIMEOUT", "PARTS", "CommandResult", "Gates", "after_start", "before_stop", "gates_of", "next_restart"]

PARTS = {
    "keepers": (Kind.ZOOKEEPER, Kind.CONTROLLER),
    "brokers": (Kind.BROKER,),
    "masters": (Kind.SPARK_MASTER,),
    "workers": (Kind.SPARK_WORKER,),
}
_ACCEPT = "-e kafka_unsafe_partitions=true"
"""How users of the playbook accept what cannot be made safe."""


def gates_of(cluster: Cluster, hosts: Connections, *, timeout: float, unsafe_partitions: bool) -> Gates:
    """The gates of a cluster, which ask as the inventory's client properties say."""
    client = inventory.librdkafka(cluster.client)
    return Gates(cluster, client, unsafe_partitions=unsafe_partitions, timeout=timeout, hosts=hosts)


def next_restart(gates: Gates, hosts: Collection[str], restarted: Collection[str]) -> dict[str, Any]:
    """The node of these hosts that is restarted next, in the order of `kcluster restart`, and all that are left.

    Raises RefusedError before the first restart when one of them can never be stopped safely.
    """
    left = [node for node in gates.cluster.every_node if node.host.name in hosts and node.name not in restarted]
    if not restarted:
        roll.refuse_unsafe(gates, [[node] for node in left], accept=_ACCEPT)
    names = [node.name for node in left]
    if not left:
        return {"changed": False, "node": "", "host": "", "unit": "", "left": names}
    node = next_node(left, gates.dead, gates.leader)
    named = {**_named(node), "host": node.host.name, "activation": diagnosis.activation(node)}
    return {"changed": False, **named, "left": names}


def before_stop(gates: Gates, node: Node, hosts: Connections, progress: Progress) -> dict[str, Any]:
    """Wait until the node may stop; whether it leads its kind, and where its next start will begin in its log."""
    node_selection.installed(gates.cluster, [node], hosts)
    leads = gates.leader(node.kind) == node.name
    roll.refuse_unsafe(gates, [[node]], accept=_ACCEPT)
    roll.wait_before_stop(gates, [node], progress, state="")
    (began,) = diagnosis.marks([node], hosts)
    return {
        "changed": False,
        **_named(node),
        "leads": leads,
        "began": {"since": began.since, "log_size": began.log_size},
    }


def after_start(
    gates: Gates, node: Node, began: Mapping[str, Any], hosts: Connections, progress: Progress, *, wait: bool
) -> dict[str, Any]:
    """Wait until the node is back and has caught up; the error of one that is not has the diagnosis."""
    if wait:
        start = StartMark(node, int(began.get("since", 0)), int(began.get("log_size", 0)))
        roll.wait_after_start([start], hosts, progress, gates.timeout, lambda: gates.after_start(node))
    return {"changed": False, **_named(node)}


def _named(node: Node) -> dict[str, str]:
    return {"node": node.name, "unit": diagnosis.unit_of(node)}
