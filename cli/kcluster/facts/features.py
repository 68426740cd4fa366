"""The levels of features that a KRaft cluster has finalized; they bind whoever joins it, whatever its release."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kcluster.clients import wire
from kcluster.clients.dialing import Dial, direct
from kcluster.errors import KclusterError
from kcluster.model.cluster import Cluster
from kcluster.model.quorum import Controller, Quorum


def finalized(cluster: Cluster, dial: Dial = direct) -> Mapping[str, int]:
    """The level of each feature, by name, as the first controller that answers knows it; empty with ZooKeeper."""
    if not isinstance(cluster.metadata, Quorum):
        return {}
    with ThreadPoolExecutor() as pool:
        return next(filter(None, pool.map(partial(_levels, dial=dial), cluster.metadata.controllers)), {})


def _levels(controller: Controller, dial: Dial) -> Mapping[str, int]:
    try:
        return wire.features(controller.host.address, controller.port, dial=dial).finalized
    except KclusterError:
        return {}
