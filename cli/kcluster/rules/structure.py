"""The rules every command applies: ids, the release, the cluster id and the name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import count, islice

from kcluster.model import quorum
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, times
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Quorum

VERSIONS = ("3.9.0", "3.9.1", "3.9.2", "4.0.0", "4.0.1", "4.1.1", "4.1.2", "4.2.0", "4.2.1", "4.3.1")
"""The releases whose layout, properties and hashes are known."""

ID_VARIABLES = {Kind.ZOOKEEPER: "zookeeper_id", Kind.BROKER: "kafka_broker_id", Kind.CONTROLLER: "kafka_controller_id"}

_RANGES = {Kind.ZOOKEEPER: (1, 255), Kind.BROKER: (0, 999), Kind.CONTROLLER: (3000, 2_000_000_000)}
Offers = Mapping[Kind, Iterator[int]]
"""For each kind of node the ids that findings may offer; each is taken once."""

_FIRST_OFFERED = {Kind.ZOOKEEPER: 1, Kind.BROKER: 1, Kind.CONTROLLER: 3001}
_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def structure(cluster: Cluster) -> list[Finding]:
    """The findings of all rules of this module."""
    return [finding for rule in _RULES for finding in rule(cluster)]


def free_ids(kind: Kind, used: Collection[int]) -> Iterator[int]:
    """The ids of a kind that are not used, in the order in which they are offered; without an end."""
    return (number for number in count(_FIRST_OFFERED[kind]) if number not in used)


def ids(cluster: Cluster) -> Iterator[Finding]:
    """Ids are unique and in range; all findings together offer each number once."""
    offers = _offers(cluster)
    yield from _ids_unique(cluster, offers)
    yield from _ids_in_range(cluster, offers)


def _ids_unique(cluster: Cluster, offers: Offers) -> Iterator[Finding]:
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
                _others(ID_VARIABLES[kind], {name: next(offers[kind]) for name in names[1:]}),
                Location(names[-1], ID_VARIABLES[kind]),
            )


def _ids_in_range(cluster: Cluster, offers: Offers) -> Iterator[Finding]:
    """Ids are in the range of their kind, so that those of brokers and controllers differ."""
    for node in cluster.nodes:
        low, high = _RANGES[node.kind]
        if node.id >= 0 and not low <= node.id <= high:
            limits = f"from {low} to {high}" if node.kind is not Kind.CONTROLLER else f"{low} or more"
            yield Finding(
                f"{node.kind} id {node.id} of {node.host.name} is out of range: it must be {limits}",
                f"set {ID_VARIABLES[node.kind]}: {next(offers[node.kind])}",
                Location(node.host.name, ID_VARIABLES[node.kind]),
            )


def _others(variable: str, numbers: Mapping[str, int]) -> str:
    """What to do about hosts with an id that another one has as well."""
    if len(numbers) == 1:
        ((name, number),) = numbers.items()
        return f"give {name} another {variable}, such as {number}"
    return (
        f"give each another {variable}, such as {', '.join(f'{number} to {name}' for name, number in numbers.items())}"
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


def _offers(cluster: Cluster) -> Offers:
    """For each kind the free ids, beginning after those that nodes without an id were offered."""
    by_kind: dict[Kind, list[int]] = {kind: [] for kind in ID_VARIABLES}
    for node in cluster.nodes:
        by_kind[node.kind].append(node.id)
    return {
        kind: islice(free_ids(kind, numbers), sum(number < 0 for number in numbers), None)
        for kind, numbers in by_kind.items()
    }


_RULES = (
    ids,
    known_release,
    verifiable_release,
    zookeeper_supported,
    valid_cluster_id,
    valid_cluster_name,
)
