"""The clusters on this machine: which there are, and each as it was placed here."""

from __future__ import annotations

from pathlib import Path

from kcluster import paths
from kcluster.errors import RefusedError, UsageError
from kcluster.local.cluster_record import ClusterRecord, cluster_names
from kcluster.model.cluster import Cluster
from kcluster.model.suggestions import nearest

__all__ = ["cluster_names", "meant", "only", "record", "running"]


def only() -> str:
    """The name of the one local cluster there is."""
    known = cluster_names()
    if not known:
        raise UsageError("there is no cluster on this machine yet", resolution="kcluster up")
    if len(known) > 1:
        raise UsageError(f"several clusters are on this machine: {', '.join(known)}", resolution=f"-n {known[0]}")
    return known[0]


def meant(name: str | None, path: Path | None) -> str:
    """The local cluster a command is about: the name given, else the inventory's, else the only one there is."""
    if name:
        return name
    if path:
        from kcluster import inventory  # lazily: most commands name no inventory

        return inventory.read(path).name
    return only()


def record(name: str) -> ClusterRecord:
    """All that is known about a local cluster, or an error with the nearest names."""
    found = ClusterRecord.load(paths.home() / "local" / name)
    if found is None:
        raise _unknown(name)
    return found


def running(name: str) -> Cluster:
    """The local cluster of that name, as it was placed on this machine."""
    return record(name).cluster


def _unknown(name: str) -> RefusedError:
    known = cluster_names()
    if not known:
        return RefusedError(f"there is no local cluster {name}, nor any other", resolution=f"kcluster up --name {name}")
    near = nearest(name, known) or known
    return RefusedError(f"there is no local cluster {name}; there is {', '.join(near)}", resolution=f"-n {near[0]}")
