"""What is judged of data directories: their disks, and whose data lies in them. Pure: facts in, answers out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kcluster.clients import host_scripts
from kcluster.config.file_paths import data_dirs
from kcluster.facts.preflight.check_results import CheckResult, CheckSeverity
from kcluster.facts.preflight.system import amount
from kcluster.model.broker import Broker
from kcluster.model.ensemble import Server
from kcluster.model.node import Kind
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.results import enumerated, few

if TYPE_CHECKING:
    from kcluster.facts.preflight.host_facts import DirectoryFacts, HostFacts, LogDiskFacts
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node

LEAST, LOW = 1 << 30, 0.10
SLOW_MS, TOO_SLOW_MS = 10.0, 100.0
REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "glusterfs", "lustre", "afs", "fuse.sshfs", "fuse.s3fs"}
FLEETING = {"tmpfs", "ramfs"}
HARMLESS = {"lost+found", ".lock", ".kafka_cleanshutdown", "bootstrap.checkpoint", "meta.properties.tmp"}
"""What a first start that was interrupted, or the file system itself, leaves in a directory."""


def answers(cluster: Cluster, told: Mapping[str, HostFacts]) -> Iterator[CheckResult]:
    """Everything about the data directories of all hosts that answered."""
    usual = cluster_id(cluster, told)
    fresh = _quorum_is_empty(cluster, told)
    for node in cluster.every_node:
        host = told.get(node.host.name)
        if host is None:
            continue
        for path in data_dirs(node):
            yield from _disk(node, path, host.directories[path], host)
            if not isinstance(node, SparkDaemon):  # what executors leave behind is of no use to anybody later
                orphan = fresh and _used(cluster, host.directories[path])
                yield from _contents(node, path, host.directories, usual, orphan)
        if path := journal(node):
            yield latency(node.host.name, path, host.journals[path])


def journal(node: Node) -> str:
    """The directory in which a ZooKeeper server or controller syncs each write; brokers have none."""
    if isinstance(node, Server):
        return node.log_dir or node.data_dir
    return node.data_dir if isinstance(node, Controller) else ""


def _disk(node: Node, path: str, found: DirectoryFacts, host: HostFacts) -> Iterator[CheckResult]:
    name = node.host.name
    yield mount(name, path, found)
    yield space(name, path, found)
    yield filesystem(name, path, found)
    yield writable(name, path, found)
    yield owner(node, path, found, host.accounts.get(node.places.user))


def mount(name: str, path: str, found: DirectoryFacts) -> CheckResult:
    """Every disk that should be mounted is mounted."""
    if not found.unmounted:
        return CheckResult("disk-mount", CheckSeverity.OK, name, f"{path} lies on {found.mount}")
    told = f"{path}: {found.unmounted} is in fstab or a mount unit and is not mounted"
    return CheckResult("disk-mount", CheckSeverity.ERROR, name, told, "the disk mounted", f"mount {found.unmounted}")


def space(name: str, path: str, found: DirectoryFacts) -> CheckResult:
    """The disk has room, for bytes and for files; a node that has data already may start again with less."""
    told = f"{path}: {amount(found.free)} of {amount(found.total)} free on {found.mount}"
    fix = f"make room or give it a larger disk: du -xsh {found.mount.rstrip('/')}/*"
    if found.free < LEAST and not (found.free and _data(found)):
        return CheckResult("disk-space", CheckSeverity.ERROR, name, told, "at least 1 GiB", fix)
    if found.inodes and not found.free_inodes:
        return CheckResult(
            "disk-space", CheckSeverity.ERROR, name, f"{path}: no inodes free on {found.mount}", "inodes", fix
        )
    if found.free < max(LEAST, LOW * found.total):
        return CheckResult("disk-space", CheckSeverity.WARNING, name, told, "10 % and 1 GiB free", fix)
    return CheckResult("disk-space", CheckSeverity.OK, name, told)


def filesystem(name: str, path: str, found: DirectoryFacts) -> CheckResult:
    """Data lies on a local file system that stays."""
    if found.filesystem not in REMOTE | FLEETING:
        return CheckResult("disk-filesystem", CheckSeverity.OK, name, f"{path}: {found.filesystem}")
    kind = "over the network" if found.filesystem in REMOTE else "in memory, gone after a reboot"
    fix = "use a local disk with XFS or ext4"
    return CheckResult(
        "disk-filesystem", CheckSeverity.WARNING, name, f"{path}: {found.filesystem}, {kind}", "a local disk", fix
    )


def writable(name: str, path: str, found: DirectoryFacts) -> CheckResult:
    """The disk can be written."""
    if not found.read_only:
        return CheckResult("disk-read-only", CheckSeverity.OK, name, f"{path}: can be written")
    fix = f"dmesg -T | grep -iE 'error|remount'; then: mount -o remount,rw {found.mount}"
    told = f"{path}: {found.mount} is mounted read-only"
    return CheckResult("disk-read-only", CheckSeverity.ERROR, name, told, "a disk that can be written", fix)


def owner(node: Node, path: str, found: DirectoryFacts, account: int | None) -> CheckResult:
    """Data that is there belongs to the service account."""
    places, name = node.places, node.host.name
    foreign = set(found.entries) - HARMLESS and found.owner is not None and found.owner != account
    if not foreign:
        return CheckResult("disk-owner", CheckSeverity.OK, name, f"{path}: {'ours' if found.entries else 'empty'}")
    told = f"{path} holds data and belongs to user number {found.owner}"
    fix = f"chown -R {places.user}:{places.group} {path}"
    return CheckResult("disk-owner", CheckSeverity.ERROR, name, told, f"owned by {places.user}", fix)


def latency(name: str, path: str, found: LogDiskFacts) -> CheckResult:
    """The disk of the metadata log answers small synced writes quickly."""
    if not found.times:
        told = f"{path}: not measured: {found.problem or 'no answer in time'}"
        return CheckResult("fsync-latency", CheckSeverity.INFO, name, told, "", "kcluster explain fsync-latency")
    median, slowest = percentile(found.times, 50), percentile(found.times, 99)
    told = f"{path}: median {median:.1f} ms, p99 {slowest:.1f} ms for a synced write"
    fix = "give the metadata log a fast disk of its own: kcluster explain fsync-latency"
    if too_slow(found):
        return CheckResult(
            "fsync-latency", CheckSeverity.ERROR, name, told, f"p99 of {TOO_SLOW_MS:.0f} ms or less", fix
        )
    if slowest > SLOW_MS:
        return CheckResult("fsync-latency", CheckSeverity.WARNING, name, told, f"p99 of {SLOW_MS:.0f} ms or less", fix)
    return CheckResult("fsync-latency", CheckSeverity.OK, name, told)


def too_slow(found: LogDiskFacts) -> bool:
    """Whether the metadata quorum would wait for it repeatedly; one slow write of a busy disk does not count."""
    return bool(found.times) and percentile(found.times, 99) > TOO_SLOW_MS and percentile(found.times, 50) > SLOW_MS


def percentile(times: tuple[float, ...], percent: int) -> float:
    """The value below which so many of the sorted times lie."""
    return times[min(len(times) - 1, len(times) * percent // 100)]


# Whose data it is.


def cluster_id(cluster: Cluster, told: Mapping[str, HostFacts]) -> str:
    """The id that the data must have: the inventory's, or with ZooKeeper the one that most directories have."""
    if isinstance(cluster.metadata, Quorum):
        return cluster.metadata.cluster_id
    found: Counter[str] = Counter()
    for broker in cluster.brokers:
        if host := told.get(broker.host.name):
            found.update(_ids(host.directories[path].meta for path in broker.data_dirs))
    return found.most_common(1)[0][0] if found else ""


def _ids(metas: Iterator[Mapping[str, str]]) -> set[str]:
    return {meta["cluster.id"] for meta in metas if meta.get("cluster.id")}


def _quorum_is_empty(cluster: Cluster, told: Mapping[str, HostFacts]) -> bool:
    """Whether every member of the metadata quorum answered and has no data: then no broker may have data."""
    members = cluster.metadata.nodes
    if not members or any(member.host.name not in told for member in members):
        return False
    found = (told[node.host.name].directories[path] for node in members for path in data_dirs(node))
    return not any(_data(each) - {"myid"} for each in found)


def _used(cluster: Cluster, found: DirectoryFacts) -> bool:
    """Whether a node has run with a directory; with KRaft it has its meta.properties before the first start."""
    first = {"meta.properties"} if isinstance(cluster.metadata, Quorum) else set()
    return bool(found.meta and _data(found) - first)


def _data(found: DirectoryFacts) -> set[str]:
    """What lies in a directory beside what anybody leaves there."""
    return {entry for entry in found.entries if entry not in HARMLESS and not entry.endswith("-checkpoint")}


def _contents(
    node: Node, path: str, directories: Mapping[str, DirectoryFacts], usual: str, orphan: bool
) -> Iterator[CheckResult]:
    found, name = directories[path], node.host.name
    if isinstance(node, Server):
        yield from _server(node, path, directories)
        return
    yield from _identity(node, path, found, usual)
    if not found.meta and _data(found):
        yield _older(name, path, f"holds {_shown(found)} and no meta.properties")
    elif isinstance(node, Broker) and found.no_partitions:
        yield _no_partitions(name, path, found)
    elif isinstance(node, Broker) and orphan:
        yield _older(name, path, "holds a broker's data, and the metadata quorum has no data")
    else:
        yield CheckResult("older-data", CheckSeverity.OK, name, f"{path}: {'ours' if found.meta else 'empty'}")


def _identity(node: Node, path: str, found: DirectoryFacts, usual: str) -> Iterator[CheckResult]:
    """The id of the node and of the cluster, as meta.properties has them."""
    name, word = node.host.name, {Kind.BROKER: "kafka_broker_id"}.get(node.kind, "kafka_controller_id")
    disk = host_scripts.load("disk_identity")
    identity = disk.identity_of(found.meta)
    yield _node_id(name, path, identity.get("id", ""), node.id, word)
    theirs = identity.get("cluster_id", "")
    if "cluster_id" in disk.conflicts(identity, str(node.id), usual):
        told = f"{path} belongs to the cluster {theirs}"
        fix = f"take the host out of the inventory, or when its data is not needed: mv {path} {path}.old"
        yield CheckResult("cluster-id", CheckSeverity.ERROR, name, told, f"the cluster {usual}", fix)
    else:
        yield CheckResult("cluster-id", CheckSeverity.OK, name, f"{path}: {theirs or 'none yet'}")


def _server(node: Server, path: str, directories: Mapping[str, DirectoryFacts]) -> Iterator[CheckResult]:
    """myid lies with the snapshots; the log directory has none of its own."""
    found, main = directories[path], directories[node.data_dir]
    if path == node.data_dir:
        yield _node_id(node.host.name, path, found.myid, node.id, "zookeeper_id")
    if not main.myid and _data(found):
        yield _older(node.host.name, path, f"holds {_shown(found)} and there is no myid")
    else:
        yield CheckResult("older-data", CheckSeverity.OK, node.host.name, f"{path}: {'ours' if main.myid else 'empty'}")


def _node_id(name: str, path: str, number: str, wanted: int, word: str) -> CheckResult:
    if number in ("", str(wanted)):
        return CheckResult("node-id", CheckSeverity.OK, name, f"{path}: {number or 'none yet'}")
    fix = f"correct {word} of {name} in the inventory, or put the right disk in"
    return CheckResult("node-id", CheckSeverity.ERROR, name, f"{path} is the data of id {number}", f"id {wanted}", fix)


def _older(name: str, path: str, what: str) -> CheckResult:
    fix = f"look at it; when it is not needed: mv {path} {path}.old"
    return CheckResult(
        "older-data", CheckSeverity.ERROR, name, f"{path} {what}", "an empty directory, or our data", fix
    )


def _no_partitions(name: str, path: str, found: DirectoryFacts) -> CheckResult:
    names = enumerated(found.no_partitions)
    told = f"{path} holds {names}, and Kafka does not start with a directory that is no partition"
    fix = f"look what is in it; when it is not needed: mv {path}/{found.no_partitions[0]} /var/tmp"
    return CheckResult("older-data", CheckSeverity.ERROR, name, told, "partitions only", fix)


def _shown(found: DirectoryFacts) -> str:
    """The first things in a directory."""
    return few(sorted(_data(found)))
