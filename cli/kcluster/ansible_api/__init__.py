"""The package for Ansible: the collection's action plugins import nothing else of it.

A plugin knows Ansible: arguments, connections, results. What it decides, it decides here, as `kcluster` itself does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kcluster.config.file_paths import paths
from kcluster.config.unit_titles import of_another
from kcluster.errors import KclusterError
from kcluster.inventory import cluster_of, load
from kcluster.inventory.schema import VARIABLES
from kcluster.model.cluster import Cluster, Part
from kcluster.model.node import Kind, Node

__all__ = ["VARIABLES", "Cluster", "KclusterError", "Kind", "Node", "Part", "cluster_of", "load", "whose"]


def whose(part: Part, nodes: Iterable[Node]) -> dict[str, Any]:
    """What a module compares the units of these nodes with, so that it refuses those of another cluster."""
    units = [paths(node, log4j2=True).unit for node in nodes]
    return {"cluster": part.name, "of_another": of_another(part.name), "units": units}
