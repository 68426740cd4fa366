"""Reading an inventory: `ansible-inventory` asks Ansible, `cluster_from` makes a Cluster of the answer."""

from __future__ import annotations

from pathlib import Path

from kcluster.model.cluster import Cluster


def read(path: Path) -> Cluster:
    """The cluster an inventory describes."""
    raise NotImplementedError


def client_properties(path: Path) -> dict[str, str]:
    """The properties of a --client-config file."""
    raise NotImplementedError
