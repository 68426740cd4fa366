"""What Spark's masters say: who leads, and which workers serve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kcluster.clients.spark import master
from kcluster.clients.spark.master import MasterState
from kcluster.errors import UnreachableError
from kcluster.model.reason import Reason
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon, SparkMaster, SparkWorker

_AT_ONCE = 16
_SOON = " yet: ZooKeeper forgets the one before when its session ends, which takes up to a minute"
"""A master that ends, in whatever way, does not give its lead back, and how long ZooKeeper waits is fixed in Spark."""


def states(engine: SparkCluster) -> dict[str, MasterState]:
    """What each master says, by its name; one that does not answer is missing."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = pool.map(_ask, engine.masters)
        return {node.name: said for node, said in zip(engine.masters, told, strict=True) if said}


def leader(engine: SparkCluster) -> str:
    """The name of the master that leads; empty when none does."""
    return next((name for name, said in states(engine).items() if said.leads), "")


def roles(engine: SparkCluster) -> dict[str, str]:
    """What each node is: a master its state, a worker that is known nothing special; who does not serve is missing."""
    told = states(engine)
    found = {name: "leader" if said.leads else said.status.lower() for name, said in told.items()}
    return found | {node.name: "" for node in engine.workers if _serves(node, told.values())}


def missing(engine: SparkCluster, nodes: Sequence[SparkDaemon]) -> list[Reason]:
    """Why these nodes do not do their work yet."""
    told = states(engine)
    reasons = [
        Reason(f"{node.name} does not answer yet")
        for node in nodes
        if isinstance(node, SparkMaster) and (node.name not in told or told[node.name].status == "RECOVERING")
    ]
    if nodes and not any(said.leads for said in told.values()):
        return [*reasons, Reason(f"no Spark master leads{_SOON if engine.keepers else ''}")]
    return reasons + [
        Reason(f"the Spark master that leads does not know {node.name} yet")
        for node in nodes
        if isinstance(node, SparkWorker) and not _serves(node, told.values())
    ]


def _serves(worker: SparkWorker, told: Iterable[MasterState]) -> bool:
    at = worker.host.address, worker.port
    return any(said.leads and said.workers.get(at) == "ALIVE" for said in told)


def _ask(node: SparkMaster) -> MasterState | None:
    try:
        return master.master_state(node.host.address, node.web_port)
    except UnreachableError:
        return None
