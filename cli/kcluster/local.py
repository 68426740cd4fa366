"""The record of the clusters on this machine: where each node lives, its ports, its process."""

from __future__ import annotations

from kcluster.model.cluster import Cluster


def only() -> str:
    """The name of the one local cluster there is."""
    raise NotImplementedError


def running(name: str) -> Cluster:
    """The local cluster of that name, as it was placed on this machine."""
    raise NotImplementedError
