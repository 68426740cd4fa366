"""The package for Ansible: the collection's action plugins import nothing else of it.

A plugin knows Ansible: arguments, connections, results. What it decides, it decides here, as `kcluster` itself does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from kcluster.config.file_paths import paths
from kcluster.config.unit_titles import of_another
from kcluster.errors import KclusterError, RefusedError
from kcluster.inventory import cluster_of, load
from kcluster.inventory.schema import VARIABLES
from kcluster.model.cluster import Cluster, Part
from kcluster.model.node import Kind, Node
from kcluster.plan.fingerprint import AGREED, fingerprint
from kcluster.stages.hand_over import received

__all__ = [
    "VARIABLES",
    "Cluster",
    "KclusterError",
    "Kind",
    "Node",
    "Part",
    "agreed",
    "by_kcluster",
    "cluster_of",
    "load",
    "whose",
]


def agreed(cluster: Cluster) -> Cluster:
    """The cluster, or its stage that `kcluster provision` has come to.

    RefusedError when that runs this, and what was agreed to is another one.
    """
    expected = os.environ.get(AGREED)
    if expected and expected != fingerprint(cluster):
        raise RefusedError(
            f"the inventory of {cluster.name} was changed after its plan was shown, and that is not applied",
            resolution="run it again, and look at the new plan",
        )
    return received(cluster)


def by_kcluster() -> bool:
    """Whether `kcluster provision` runs this, which walks the stages of a change itself."""
    return AGREED in os.environ


def whose(part: Part, nodes: Iterable[Node]) -> dict[str, Any]:
    """What a module compares the units of these nodes with, so that it refuses those of another cluster."""
    units = [paths(node, log4j2=True).unit for node in nodes]
    return {"cluster": part.name, "of_another": of_another(part.name), "units": units}
