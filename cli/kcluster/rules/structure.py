"""The rules every command applies: ids, the release, the cluster id and the name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kcluster.model import quorum
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, times
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Quorum

VERSIONS = ("3.9.0", "3.9.1", "3.9.2", "4.0.0", "4.0.1", "4.1.1", "4.1.2", "4.2.0", "4.2.1", "4.3.1")
"""The releases whose layout, properties and hashes are known."""

ID_VARIABLES = {Kind.ZOOKEEPER: "zookeeper_id", Kind.BROKER: "kafka_broker_id", Kind.CONTROLLER: "kafka_controller_id"}

_RANGES = {Kind.ZOOKEEPER: (1, 255), Kind.BROKER: (0, 999), Kind.CONTROLLER: (3000, 2_000_000_000)}
_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def structure(cluster: Cluster) -> list[Finding]:
    """The findings of all rules of this module."""
    return [finding for rule in _RULES for finding in rule(cluster)]


def ids_unique(cluster: Cluster) -> Iterator[Finding]:
    """An id belongs to one node of a kind."""
    by_id: dict[tuple[Kind, int], list[Node]] = defaultdict(list)
    for node in cluster.nodes:
        if node.id >= 0:
            by_id[node.kind, node.id].append(node)
    for (kind, number), nodes in by_id.items():
        if len(nodes) > 1:
            names = [node.host.name for node in nodes]
            yield Finding(
                f"{kind} id {number} is used {times(len(names))} ({', '.join(names)})",
                f"give {names[-1]} another {ID_VARIABLES[kind]}, such as {_free(cluster, kind)}",
                Location(names[-1], ID_VARIABLES[kind]),
            )


def ids_in_range(cluster: Cluster) -> Iterator[Finding]:
    """Ids are in the range of their kind, so that those of brokers and controllers differ."""
    for node in cluster.nodes:
        low, high = _RANGES[node.kind]
        if node.id >= 0 and not low <= node.id <= high:
            limits = f"from {low} to {high}" if node.kind is not Kind.CONTROLLER else f"{low} or more"
            yield Finding(
                f"{node.kind} id {node.id} of {node.host.name} is out of range: it must be {limits}",
                f"set {ID_VARIABLES[node.kind]}: {_free(cluster, node.kind)}",
                Location(node.host.name, ID_VARIABLES[node.kind]),
            )


def known_release(cluster: Cluster) -> Iterator[Finding]:
    """The release is one whose layout, properties and hashes are known."""
    version = cluster.release.version
    if version not in VERSIONS:
        from kcluster.model.suggestions import meant

        near = meant(version, VERSIONS) or VERSIONS[2]
        yield Finding(
            f"Kafka {version} is not a known release",
            f"set kafka_version: {near}, or another of {', '.join(VERSIONS)}",
            Location(variable="kafka_version"),
        )


def verifiable_release(cluster: Cluster) -> Iterator[Finding]:
    """What comes over plain HTTP is verified by a hash that did not come the same way."""
    release = cluster.release
    if release.sha512_fault:
        yield Finding(
            f"kafka_release_sha512 {release.sha512_fault}",
            "write the first word of: sha512sum ARCHIVE",
            Location(variable="kafka_release_sha512"),
        )
    for source in release.unverifiable:
        yield Finding(
            f"kafka_release_sources has {source}: over http:// the archive and its hash can be changed on the way",
            "set kafka_release_sha512 to the published SHA-512 of the archive, or use https://",
            Location(variable="kafka_release_sources"),
        )


def zookeeper_supported(cluster: Cluster) -> Iterator[Finding]:
    """A cluster with ZooKeeper has a release before Kafka 4.0."""
    if (
        cluster.release.version in VERSIONS
        and not cluster.release.supports_zookeeper
        and not isinstance(cluster.metadata, Quorum)
    ):
        yield Finding(
            f"Kafka {cluster.release.version} does not support ZooKeeper",
            "set kafka_version: 3.9.2, or use the group kafka_controller instead of zookeeper",
            Location(variable="kafka_version"),
        )


def valid_cluster_id(cluster: Cluster) -> Iterator[Finding]:
    """A KRaft cluster has an id of 22 characters, with which its storage is formatted."""
    if not isinstance(cluster.metadata, Quorum) or _CLUSTER_ID.fullmatch(cluster.metadata.cluster_id):
        return
    given = cluster.metadata.cluster_id
    yield Finding(
        f"kafka_cluster_id is {given!r}, not 22 letters, digits, `-` and `_`"
        if given
        else "kafka_cluster_id is not set: KRaft storage is formatted with it",
        f"set kafka_cluster_id: {quorum.new_cluster_id()}  (newly generated; never change it afterwards)",
        Location(variable="kafka_cluster_id"),
    )


def valid_cluster_name(cluster: Cluster) -> Iterator[Finding]:
    """The name can be a directory name and is easy to type."""
    if not _NAME.fullmatch(cluster.name):
        yield Finding(
            f"{cluster.name!r} is not a valid cluster name",
            "set kcluster_name to letters, digits, `.`, `_` and `-`",
            Location(variable="kcluster_name"),
        )


def _free(cluster: Cluster, kind: Kind) -> int:
    """The next free id of a kind."""
    low, high = _RANGES[kind]
    used = {node.id for node in cluster.nodes if node.kind is kind and low <= node.id <= high}
    following = max(used, default=low - 1) + 1
    return following if following <= high else next(number for number in range(low, high + 2) if number not in used)


_RULES = (
    ids_unique,
    ids_in_range,
    known_release,
    verifiable_release,
    zookeeper_supported,
    valid_cluster_id,
    valid_cluster_name,
)
