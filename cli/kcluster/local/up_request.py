"""The options of `up`, and the cluster they describe."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kcluster import paths
from kcluster.errors import RefusedError, UsageError
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, UpOrigin
from kcluster.model.cluster import Cluster
from kcluster.model.quorum import Quorum, new_cluster_id

DEFAULT_NAME = "local"


@dataclass(frozen=True)
class UpRequest:
    """The options of the command line; None where an option was not given."""

    inventory: Path | None = None
    name: str | None = None
    brokers: int | None = None
    zookeepers: int | None = None
    controllers: int | None = None
    kraft: bool = False
    version: str | None = None

    @property
    def shaped(self) -> bool:
        """Whether an option describes the cluster's topology or release."""
        return self.kraft or any((self.brokers, self.zookeepers, self.controllers, self.version))


def cluster_dir(name: str) -> Path:
    """The directory of a local cluster; UsageError when the name cannot be one."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UsageError(f"{name!r} is not a valid cluster name", resolution="use letters, digits, `.`, `_` and `-`")
    return paths.home() / "local" / name


def requested_cluster(
    request: UpRequest, read: Callable[[Path], Cluster]
) -> tuple[Cluster, UpOrigin, ClusterRecord | None]:
    """The requested cluster, its origin, and its record when it exists; UsageError or RefusedError where they conflict.

    `read` returns the cluster of an inventory, or raises InventoryError.
    """
    _refuse_contradictions(request)
    if request.inventory:
        return _from_inventory(request.inventory, request.name, read)
    name = request.name or DEFAULT_NAME
    known = ClusterRecord.load(cluster_dir(name))
    if known and known.origin.inventory:
        if request.shaped:
            raise UsageError(
                f"the local cluster {name} comes from the inventory {known.origin.inventory}",
                resolution="change the inventory, or use another --name",
            )
        return _from_inventory(Path(known.origin.inventory), name, read)
    origin = _topology_origin(request, known)
    cluster_id = known.cluster.metadata.cluster_id if known and isinstance(known.cluster.metadata, Quorum) else ""
    cluster = topology.cluster_of(name, origin, cluster_id or new_cluster_id())
    if not origin.kraft and not cluster.release.supports_zookeeper:
        raise UsageError(f"Kafka {cluster.release.version} does not support ZooKeeper", resolution="add --kraft")
    _refuse_other_metadata(cluster, known)
    return cluster, origin, known


def _from_inventory(
    path: Path, name: str | None, read: Callable[[Path], Cluster]
) -> tuple[Cluster, UpOrigin, ClusterRecord | None]:
    cluster = read(path)
    cluster = replace(cluster, name=name or cluster.name, engine=None)  # local jobs run without a Spark cluster
    known = ClusterRecord.load(cluster_dir(cluster.name))
    _refuse_other_metadata(cluster, known)
    _refuse_other_cluster(cluster, path.absolute(), known)
    return _with_id(cluster, known), UpOrigin(inventory=str(path.absolute())), known


def _with_id(cluster: Cluster, known: ClusterRecord | None) -> Cluster:
    """The cluster with a cluster id: the inventory's, else that of the record, else a new one."""
    metadata = cluster.metadata
    if not isinstance(metadata, Quorum) or metadata.cluster_id:
        return cluster
    old = known.cluster.metadata.cluster_id if known and isinstance(known.cluster.metadata, Quorum) else ""
    return replace(cluster, metadata=replace(metadata, cluster_id=old or new_cluster_id()))


def _topology_origin(request: UpRequest, known: ClusterRecord | None) -> UpOrigin:
    """The requested topology; options that were not given keep the values of the record."""
    old = known.origin if known else UpOrigin()
    return UpOrigin(
        brokers=request.brokers or old.brokers,
        keepers=request.zookeepers or request.controllers or old.keepers,
        kraft=request.kraft or old.kraft,
        version=request.version or old.version,
    )


def _refuse_contradictions(request: UpRequest) -> None:
    if request.inventory and request.shaped:
        raise UsageError(
            "--inventory defines the nodes and the release",
            resolution="remove --brokers, --zookeepers, --controllers, --kraft and --kafka-version",
        )
    if request.kraft and request.zookeepers:
        raise UsageError("--zookeepers cannot be used with --kraft", resolution="use --controllers instead")
    if request.controllers and not request.kraft:
        raise UsageError("--controllers needs --kraft", resolution="add --kraft, or use --zookeepers")
    for option, number in (("--zookeepers", request.zookeepers), ("--controllers", request.controllers)):
        if number and number % 2 == 0:
            raise UsageError(
                f"{option} must be odd: 1, 3 or 5",
                resolution=f"{number} servers tolerate as many failures as {number - 1}: "
                f"use {option} {number - 1} or {option} {number + 1}",
            )


def _refuse_other_metadata(cluster: Cluster, known: ClusterRecord | None) -> None:
    if known and type(known.cluster.metadata) is not type(cluster.metadata):
        current = "KRaft" if isinstance(known.cluster.metadata, Quorum) else "ZooKeeper"
        raise RefusedError(
            f"the local cluster {cluster.name} uses {current}, which `up` cannot change",
            resolution=f"use another --name, or delete it: kcluster down -n {cluster.name} --delete-data",
        )


def _refuse_other_cluster(cluster: Cluster, path: Path, known: ClusterRecord | None) -> None:
    """Refuse an inventory of another cluster with this name; the same inventory may have moved or grown."""
    if not known or known.origin.inventory == str(path):
        return
    old = known.origin.inventory
    same_nodes = {node.name for node in known.cluster.nodes} == {node.name for node in cluster.nodes}
    if not same_nodes and (not old or Path(old).exists()):
        raise RefusedError(
            f"the local cluster {cluster.name} exists and comes from {old or 'options of `kcluster up`'}",
            resolution=f"use another name: kcluster up -i {path} --name OTHER",
        )
