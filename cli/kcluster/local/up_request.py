"""What the user asks `up` for, and the cluster that is meant by it."""

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
    """The words of the command line; what was not said is None."""

    inventory: Path | None = None
    name: str | None = None
    brokers: int | None = None
    zookeepers: int | None = None
    controllers: int | None = None
    kraft: bool = False
    version: str | None = None

    @property
    def shaped(self) -> bool:
        """Whether the cluster is described on the command line."""
        return self.kraft or any((self.brokers, self.zookeepers, self.controllers, self.version))


def cluster_dir(name: str) -> Path:
    """The folder of a local cluster."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UsageError(
            f"{name!r} cannot be the name of a cluster", resolution="use letters, digits, `.`, `_` and `-`"
        )
    return paths.home() / "local" / name


def grant(wish: UpRequest, read: Callable[[Path], Cluster]) -> tuple[Cluster, UpOrigin, ClusterRecord | None]:
    """The cluster that is meant, where it comes from, and its record when it exists already.

    `read` makes the cluster of an inventory, or refuses it.
    """
    _refuse_contradictions(wish)
    if wish.inventory:
        return _from_inventory(wish.inventory, wish.name, read)
    name = wish.name or DEFAULT_NAME
    known = ClusterRecord.load(cluster_dir(name))
    if known and known.origin.inventory:
        if wish.shaped:
            raise UsageError(
                f"the local cluster {name} is made from {known.origin.inventory}", resolution="change it there"
            )
        return _from_inventory(Path(known.origin.inventory), name, read)
    origin = _shaped(wish, known)
    cluster_id = known.cluster.metadata.cluster_id if known and isinstance(known.cluster.metadata, Quorum) else ""
    cluster = topology.cluster_of(name, origin, cluster_id or new_cluster_id())
    if not origin.kraft and not cluster.release.supports_zookeeper:
        raise UsageError(f"Kafka {cluster.release.version} has no ZooKeeper mode", resolution="add --kraft")
    _refuse_other_metadata(cluster, known)
    return cluster, origin, known


def _from_inventory(
    path: Path, name: str | None, read: Callable[[Path], Cluster]
) -> tuple[Cluster, UpOrigin, ClusterRecord | None]:
    cluster = read(path)
    cluster = replace(cluster, name=name or cluster.name, engine=None)  # on one machine jobs need no Spark of hosts
    known = ClusterRecord.load(cluster_dir(cluster.name))
    _refuse_other_metadata(cluster, known)
    _refuse_other_cluster(cluster, path.absolute(), known)
    return _with_id(cluster, known), UpOrigin(inventory=str(path.absolute())), known


def _with_id(cluster: Cluster, known: ClusterRecord | None) -> Cluster:
    """The cluster with an id: the inventory's, else the one it was formatted with, else a new one."""
    metadata = cluster.metadata
    if not isinstance(metadata, Quorum) or metadata.cluster_id:
        return cluster
    old = known.cluster.metadata.cluster_id if known and isinstance(known.cluster.metadata, Quorum) else ""
    return replace(cluster, metadata=replace(metadata, cluster_id=old or new_cluster_id()))


def _shaped(wish: UpRequest, known: ClusterRecord | None) -> UpOrigin:
    """The shape asked for; what is not said stays as it was."""
    old = known.origin if known else UpOrigin()
    return UpOrigin(
        brokers=wish.brokers or old.brokers,
        keepers=wish.zookeepers or wish.controllers or old.keepers,
        kraft=wish.kraft or old.kraft,
        version=wish.version or old.version,
    )


def _refuse_contradictions(wish: UpRequest) -> None:
    if wish.inventory and wish.shaped:
        raise UsageError(
            "an inventory says how many nodes there are and of which version",
            resolution="leave out --brokers, --zookeepers, --controllers, --kraft and --kafka-version",
        )
    if wish.kraft and wish.zookeepers:
        raise UsageError("with --kraft there is no ZooKeeper", resolution="use --controllers instead of --zookeepers")
    if wish.controllers and not wish.kraft:
        raise UsageError("--controllers belongs to --kraft", resolution="add --kraft, or use --zookeepers")
    keepers = wish.zookeepers or wish.controllers or 1
    if keepers % 2 == 0:
        raise UsageError(
            f"{keepers} keepers of the metadata tolerate no more failures than {keepers - 1}",
            resolution=f"use {keepers - 1} or {keepers + 1}",
        )


def _refuse_other_metadata(cluster: Cluster, known: ClusterRecord | None) -> None:
    if known and type(known.cluster.metadata) is not type(cluster.metadata):
        keeper = "controllers" if isinstance(known.cluster.metadata, Quorum) else "ZooKeeper"
        raise RefusedError(
            f"the local cluster {cluster.name} keeps its metadata in {keeper}, which `up` cannot change",
            resolution=f"take another --name, or: kcluster down -n {cluster.name} --delete-data",
        )


def _refuse_other_cluster(cluster: Cluster, path: Path, known: ClusterRecord | None) -> None:
    """Refuse an inventory that means another cluster of the same name; it may have moved, and it may have grown."""
    if not known or known.origin.inventory == str(path):
        return
    old = known.origin.inventory
    alike = {node.name for node in known.cluster.nodes} == {node.name for node in cluster.nodes}
    if not alike and (not old or Path(old).exists()):
        raise RefusedError(
            f"the local cluster {cluster.name} is another one, made from {old or 'options of `kcluster up`'}",
            resolution=f"give this one another name: kcluster up -i {path} --name OTHER",
        )
