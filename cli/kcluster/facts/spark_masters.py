"""The facts of Spark masters: the one that leads, and the workers that serve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kcluster.clients.spark import master
from kcluster.clients.spark.master import MasterState
from kcluster.errors import UnreachableError
from kcluster.model.reason import Reason
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon, SparkMaster, SparkWorker

_AT_ONCE = 16
_SOON = " yet: the ZooKeeper session of the previous leader must expire first, which takes up to a minute"
"""A master that ends does not close its session, and the session timeout is fixed in Spark."""


def states(engine: SparkCluster) -> dict[str, MasterState]:
    """The state of each master that answers, by its name."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(_ask, engine.masters)
        return {node.name: state for node, state in zip(engine.masters, answers, strict=True) if state}


def leader(engine: SparkCluster) -> str:
    """The name of the master that leads; empty when none does."""
    return next((name for name, state in states(engine).items() if state.leads), "")


def roles(engine: SparkCluster) -> dict[str, str]:
    """The role of each node that serves, by name: of a master its state, of a registered worker nothing."""
    masters = states(engine)
    role_of = {name: "leader" if state.leads else state.status.lower() for name, state in masters.items()}
    return role_of | {node.name: "" for node in engine.workers if _serves(node, masters.values())}


def missing(engine: SparkCluster, nodes: Sequence[SparkDaemon]) -> list[Reason]:
    """Why these nodes do not serve yet; empty when they do."""
    masters = states(engine)
    reasons = [
        Reason(f"{node.name} does not answer yet")
        for node in nodes
        if isinstance(node, SparkMaster) and (node.name not in masters or masters[node.name].status == "RECOVERING")
    ]
    if nodes and not any(state.leads for state in masters.values()):
        return [*reasons, Reason(f"no Spark master leads{_SOON if engine.keepers else ''}")]
    return reasons + [
        Reason(f"{node.name} is not registered with the leading Spark master yet")
        for node in nodes
        if isinstance(node, SparkWorker) and not _serves(node, masters.values())
    ]


def _serves(worker: SparkWorker, masters: Iterable[MasterState]) -> bool:
    at = worker.host.address, worker.port
    return any(state.leads and state.workers.get(at) == "ALIVE" for state in masters)


def _ask(node: SparkMaster) -> MasterState | None:
    try:
        return master.master_state(node.host.address, node.web_port)
    except UnreachableError:
        return None
