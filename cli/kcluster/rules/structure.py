"""The rules that make a cluster: ids, the release, the keepers of the metadata; cheap enough for every command."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Quorum

VERSIONS = ("3.9.0", "3.9.1", "3.9.2", "4.0.0", "4.0.1", "4.1.1", "4.1.2", "4.2.0", "4.2.1", "4.3.1")
"""The releases whose layout, properties and hashes are known."""

ID_WORDS = {Kind.ZOOKEEPER: "zookeeper_id", Kind.BROKER: "kafka_broker_id", Kind.CONTROLLER: "kafka_controller_id"}

_RANGES = {Kind.ZOOKEEPER: (1, 255), Kind.BROKER: (0, 999), Kind.CONTROLLER: (3000, 2_000_000_000)}
_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def structure(cluster: Cluster) -> list[Finding]:
    """Everything without which this is not a cluster."""
    rules = (duplicate_ids, id_ranges, known_version, zookeeper_before_4, cluster_id, legal_name)
    return [finding for rule in rules for finding in rule(cluster)]


def duplicate_ids(cluster: Cluster) -> Iterator[Finding]:
    """An id belongs to one node of its kind."""
    holders: dict[tuple[Kind, int], list[Node]] = defaultdict(list)
    for node in cluster.nodes:
        if node.id >= 0:
            holders[node.kind, node.id].append(node)
    for (kind, number), nodes in holders.items():
        if len(nodes) > 1:
            names = [node.host.name for node in nodes]
            times = "twice" if len(names) == 2 else f"{len(names)} times"
            yield Finding(
                f"{kind} id {number} is used {times} ({', '.join(names)})",
                f"give {names[-1]} a {ID_WORDS[kind]} of its own, such as {_free(cluster, kind)}",
                Location(names[-1], ID_WORDS[kind]),
            )


def id_ranges(cluster: Cluster) -> Iterator[Finding]:
    """Ids lie in the range of their kind, so that brokers and controllers never clash."""
    for node in cluster.nodes:
        low, high = _RANGES[node.kind]
        if node.id >= 0 and not low <= node.id <= high:
            limits = f"from {low} to {high}" if node.kind is not Kind.CONTROLLER else f"{low} or more"
            yield Finding(
                f"{node.kind} id {node.id} of {node.host.name} is out of range",
                f"write a number {limits}, such as {_free(cluster, node.kind)}",
                Location(node.host.name, ID_WORDS[node.kind]),
            )


def known_version(cluster: Cluster) -> Iterator[Finding]:
    """Only known releases can be checked, fetched and started."""
    version = cluster.release.version
    if version not in VERSIONS:
        from kcluster.model.suggestions import meant

        near = meant(version, VERSIONS) or VERSIONS[2]
        yield Finding(
            f"Kafka {version} is not a known release",
            f"write {near}, or another of {', '.join(VERSIONS)}",
            Location(variable="kafka_version"),
        )


def zookeeper_before_4(cluster: Cluster) -> Iterator[Finding]:
    """ZooKeeper mode ended with Kafka 4.0."""
    if (
        cluster.release.version in VERSIONS
        and not cluster.release.supports_zookeeper
        and not isinstance(cluster.metadata, Quorum)
    ):
        yield Finding(
            f"Kafka {cluster.release.version} cannot use ZooKeeper",
            "write kafka_version: 3.9.2, or use the group kafka_controller instead of zookeeper",
            Location(variable="kafka_version"),
        )


def cluster_id(cluster: Cluster) -> Iterator[Finding]:
    """A KRaft cluster is formatted with an id that was made once."""
    if not isinstance(cluster.metadata, Quorum) or _CLUSTER_ID.fullmatch(cluster.metadata.cluster_id):
        return
    given = cluster.metadata.cluster_id
    yield Finding(
        f"{given!r} is not a cluster id: 22 letters, digits, `-` and `_`"
        if given
        else "a KRaft cluster needs a kafka_cluster_id",
        f"write kafka_cluster_id: {fresh_cluster_id()}  (this one is fresh; never change it afterwards)",
        Location(variable="kafka_cluster_id"),
    )


def legal_name(cluster: Cluster) -> Iterator[Finding]:
    """The name becomes the name of folders and is typed by people."""
    if not _NAME.fullmatch(cluster.name):
        yield Finding(
            f"{cluster.name!r} is not a name for a cluster",
            "write kcluster_name with letters, digits, `.`, `_` and `-`",
            Location(variable="kcluster_name"),
        )


def fresh_cluster_id() -> str:
    """A random cluster id in Kafka's own form; never one that begins with `-`, which tools take for an option."""
    from base64 import urlsafe_b64encode
    from uuid import uuid4

    while (made := urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return made


def _free(cluster: Cluster, kind: Kind) -> int:
    """The next free id."""
    low, high = _RANGES[kind]
    used = {node.id for node in cluster.nodes if node.kind is kind and low <= node.id <= high}
    following = max(used, default=low - 1) + 1
    return following if following <= high else next(number for number in range(low, high + 2) if number not in used)
