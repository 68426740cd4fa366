"""Refusals of a plan: hosts and disks of another node or cluster, and releases of another line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kcluster.clients import host_scripts
from kcluster.config.file_paths import paths
from kcluster.config.unit_titles import other_owner
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.node import Kind
from kcluster.model.observed import ObservedDirectory, ObservedHost
from kcluster.plan.pairs import Pair
from kcluster.plan.steps import Refusal

_ID_VARIABLES = {Kind.ZOOKEEPER: "zookeeper_id", Kind.BROKER: "kafka_broker_id", Kind.CONTROLLER: "kafka_controller_id"}
_LINE = re.compile(r"-(\d+\.\d+)(?:\.|$)")


def refusals(pairs: Sequence[Pair], cluster_id: str = "") -> tuple[Refusal, ...]:
    """All reasons not to carry out the plan; `cluster_id` is that of the running cluster, if it could be asked."""
    kafka = [pair for pair in pairs if isinstance(pair.part, Cluster)]  # Spark keeps nothing that could be another's
    expected = cluster_id or _expected_cluster(kafka)
    hosts = {pair.host.name: pair.host for pair in pairs}
    unprepared = [refusal for host in hosts.values() for refusal in _preparation(host)]
    foreign_units = [refusal for pair in pairs for refusal in _unit(pair)]
    return (
        *unprepared,
        *foreign_units,
        *(refusal for pair in kafka for refusal in (*_release(pair), *_disks(pair, expected))),
    )


def _preparation(host: ObservedHost) -> Iterator[Refusal]:
    """The refusal of the role that prepares the host."""
    if host.preparation.refused:
        what, _, advice = host.preparation.refused.partition("\ntry: ")
        yield Refusal(f"{host.name}: {what}", advice)


def _unit(pair: Pair) -> Iterator[Refusal]:
    """Ids, paths and names of units are the same in all clusters: a wrong address would overwrite another one's."""
    path = paths(pair.node, log4j2=True).unit
    found = pair.observed.files.get(path)
    if found and (owner := other_owner(found.text, pair.part.name)):
        name, host = pair.part.name, pair.host.name
        yield Refusal(
            f"{pair.node.name} on {host}: {path} belongs to the cluster {owner}, this one is {name}",
            f"is ansible_host of {host} right? If {owner} is only the older name of this cluster, write "
            f"kcluster_name: {owner} again",
        )


def _expected_cluster(pairs: Sequence[Pair]) -> str:
    """The cluster id the disks should have: the inventory's; with ZooKeeper the one most brokers have."""
    metadata = pairs[0].metadata if pairs else None
    if metadata is None or not isinstance(metadata, Ensemble):
        return metadata.cluster_id if metadata else ""
    ids = Counter(
        found.meta["cluster.id"]
        for pair in pairs
        for _, found in pair.directories
        if found and "cluster.id" in found.meta
    )
    return ids.most_common(1)[0][0] if ids else ""


def _disks(pair: Pair, cluster_id: str) -> Iterator[Refusal]:
    first, *_ = (path for path, _ in pair.directories)
    for path, found in pair.directories:
        if found is None:
            continue
        if found.metadata and path != first:
            yield _metadata_elsewhere(pair, path, first)
        if isinstance(pair.node, Server):
            if found.myid and found.myid != str(pair.node.id):
                yield _other_id(pair, f"{path}/myid", found.myid)
        elif found.meta:
            yield from _meta(pair, f"{path}/meta.properties", found, cluster_id)


def _metadata_elsewhere(pair: Pair, path: str, first: str) -> Refusal:
    """Kafka reads the metadata log from the first directory, and does not start when another one has it."""
    return Refusal(
        f"{pair.node.name} on {pair.host.name}: {path} has the cluster's metadata log, but {first} comes first",
        f"put {path} first in kafka_data_dirs, and new directories after it",
    )


def _meta(pair: Pair, file: str, found: ObservedDirectory, expected: str) -> Iterator[Refusal]:
    disks = host_scripts.load("disk_identity")
    identity = disks.identity_of(found.meta)
    conflicts = disks.conflicts(identity, str(pair.node.id), expected)
    if "id" in conflicts:
        yield _other_id(pair, file, identity["id"])
    if "cluster_id" in conflicts:
        cluster = identity["cluster_id"]
        yield Refusal(
            f"{pair.node.name} on {pair.host.name}: {file} belongs to the cluster {cluster}, this one is {expected}",
            "data of another cluster: take the host out of this inventory, or move the directory away by hand",
        )
    elif _with_zookeeper(found) != isinstance(pair.metadata, Ensemble):
        kept, wanted = ("ZooKeeper", "KRaft") if _with_zookeeper(found) else ("KRaft", "ZooKeeper")
        yield Refusal(
            f"{pair.node.name} on {pair.host.name}: {file} was written with {kept}, the inventory asks for {wanted}",
            f"set up the inventory with {kept}: a migration between ZooKeeper and KRaft is not part of provision",
        )


def _with_zookeeper(found: ObservedDirectory) -> bool:
    return found.meta.get("version") == "0"


def _other_id(pair: Pair, file: str, number: str) -> Refusal:
    variable = _ID_VARIABLES[pair.node.kind]
    return Refusal(
        f"{pair.node.name} on {pair.host.name}: {file} says {number}, the inventory says {pair.node.id}",
        f"set {variable}: {number} for {pair.host.name}, or give the host an empty data directory",
    )


def _release(pair: Pair) -> Iterator[Refusal]:
    """A patch is a rolling restart; another line changes protocols and formats, which a roll cannot undo."""
    wanted, alive = pair.part.release, pair.running or pair.has_data or _served(pair)
    before, after = _LINE.search(pair.release), _LINE.search(wanted.directory)
    if alive and before and after and before[1] != after[1]:
        yield Refusal(
            f"{pair.node.name} on {pair.host.name} has {pair.release}, the inventory asks for {wanted.directory}",
            f"set kafka_version to the newest {before[1]}.x; an upgrade to another line is not part of provision",
        )


def _served(pair: Pair) -> bool:
    return isinstance(pair.node, Server) and any(found and found.myid for _, found in pair.directories)
