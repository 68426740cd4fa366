"""The local clusters: their names, and the record and cluster of each."""

from __future__ import annotations

from pathlib import Path

from kcluster import paths
from kcluster.errors import UsageError
from kcluster.local.cluster_record import ClusterRecord, cluster_names
from kcluster.model.cluster import Cluster
from kcluster.model.suggestions import nearest

__all__ = ["cluster_names", "name_of", "only", "record", "running"]


def only() -> str:
    """The name of the only local cluster; UsageError when there is none or several."""
    known = cluster_names()
    if not known:
        raise UsageError("there is no local cluster", resolution="start one: kcluster up")
    if len(known) > 1:
        raise UsageError(
            f"there are {len(known)} local clusters: {', '.join(known)}",
            resolution=f"choose one: --name {known[0]}",
        )
    return known[0]


def name_of(name: str | None, path: Path | None) -> str:
    """The name of the local cluster for a command: the given one, else the inventory's, else that of the only one."""
    if name:
        return name
    if path:
        from kcluster import inventory  # lazily: most commands name no inventory

        return inventory.read(path).name
    return only()


def record(name: str) -> ClusterRecord:
    """The record of a local cluster; UsageError with the nearest names when there is none."""
    loaded = ClusterRecord.load(paths.home() / "local" / name)
    if loaded is None:
        raise _unknown(name)
    return loaded


def running(name: str) -> Cluster:
    """The local cluster of that name, with its local ports and directories; UsageError when there is none."""
    return record(name).cluster


def _unknown(name: str) -> UsageError:
    known = cluster_names()
    if not known:
        return UsageError(f"there is no local cluster {name}", resolution=f"start it: kcluster up --name {name}")
    near = nearest(name, known) or known
    return UsageError(
        f"there is no local cluster {name}; there is {', '.join(near)}",
        resolution=f"choose one: --name {near[0]}",
    )
