"""Whose a data directory is: its `meta.properties` or `myid`, and what else lies in it, compared with a node."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Mapping

from ansible_collections.kcluster.kafka.plugins.module_utils.files import few, listed, owner, pairs, read
from ansible_collections.kcluster.kafka.plugins.module_utils.mounts import missing_mount

Node = Dict[str, Any]
"""A node as the action plugin describes it: kind, id, cluster_id, user, data_dirs, and whether to `format` storage."""

META = "meta.properties"
METADATA = "__cluster_metadata-0"
"""Where a KRaft node keeps the cluster's metadata: in its first data directory, and Kafka refuses it in another."""

_KEPT = re.compile(
    r"meta\.properties|myid|version-2|zookeeper_server\.pid|\.lock|\.kafka_cleanshutdown|bootstrap\.checkpoint"
    r"|.*-checkpoint(\.tmp)?|__cluster_metadata-0|.+-\d+(\..+-(delete|future|stray))?"
)
"""The names of files and directories of Kafka and ZooKeeper."""
_OF_A_BROKER = re.compile(r".+-\d+(\..+-(delete|future|stray))?|remote-log-index-cache")
"""The directories with which a broker starts: those of partitions, and a cache that it ignores."""
_OF_A_FORMAT = re.compile(r"lost\+found|bootstrap\.checkpoint|.+\.tmp")
"""What may lie in a directory that gets formatted: what an interrupted format leaves."""
_OF_SPARK = re.compile(r"jobs|scratch")
"""The names of directories of a Spark worker."""


def meta(data_dir: str) -> dict[str, str]:
    """The properties of `meta.properties`; none when there is no such file."""
    return pairs(read(os.path.join(data_dir, META)) or "")


def myid(data_dir: str) -> str:
    """The number in `myid`; empty when there is no such file."""
    return (read(os.path.join(data_dir, "myid")) or "").strip()


def written(data_dir: str) -> bool:
    """Whether there is metadata of a cluster in it; without a majority of servers or controllers none is written."""
    transactions = [name for name in listed(os.path.join(data_dir, "version-2")) if name.startswith("log.")]
    log = os.path.join(data_dir, METADATA)
    snapshots = [name for name in listed(log) if name.endswith(".checkpoint") and not name.startswith("0" * 20)]
    segments = [name for name in listed(log) if name.endswith(".log") and os.path.getsize(os.path.join(log, name))]
    return bool(transactions or snapshots or segments)


def identity(file: str) -> dict[str, str]:
    """The identity in this file, `meta.properties` or `myid`: `id` and `cluster_id`, each only when it is written."""
    folder = os.path.dirname(file)
    return identity_of({"node.id": myid(folder)} if os.path.basename(file) == "myid" else meta(folder))


def identity_of(properties: Mapping[str, str]) -> dict[str, str]:
    """The same identity out of the properties of a `meta.properties`."""
    number = properties.get("node.id", properties.get("broker.id", ""))
    values = {"id": "" if number == "-1" else number, "cluster_id": properties.get("cluster.id", "")}
    return {key: value for key, value in values.items() if value}


def conflicts(identity: Mapping[str, str], number: str, cluster_id: str) -> list[str]:
    """What in an identity is another's: "id", "cluster_id" or both; an empty `cluster_id` fits every cluster."""
    wanted = {"id": number, "cluster_id": cluster_id or identity.get("cluster_id", "")}
    return [key for key in ("id", "cluster_id") if identity.get(key, wanted[key]) != wanted[key]]


def formatted(data_dir: str) -> bool:
    """Whether a data directory has the id of a cluster."""
    return os.path.exists(os.path.join(data_dir, META))


def refusal(node: Node) -> str:
    """Why a node must not use its data directories, and what to do; empty when it may."""
    spark = node["kind"].startswith("spark-")
    reasons = [] if spark else [other_node(path, node) for path in _identified(node)]
    reasons += [unfit(path, node["user"], _OF_SPARK if spark else _KEPT) for path in node["data_dirs"]]
    return next(filter(None, reasons), "") or (unformattable(node["data_dirs"]) if node["format"] else "")


def _identified(node: Node) -> list[str]:
    """The directories with an identity: of a ZooKeeper server only that of its snapshots."""
    directories: list[str] = node["data_dirs"]
    return directories[:1] if node["kind"] == "zookeeper" else directories


def other_node(data_dir: str, node: Node) -> str:
    """Why a node may not use a directory of another node or cluster; empty when it may."""
    server = node["kind"] == "zookeeper"
    file = os.path.join(data_dir, "myid" if server else META)
    found = identity(file)
    wrong = conflicts(found, str(node["id"]), "" if server else node["cluster_id"])
    if not wrong:
        return ""
    if wrong == ["cluster_id"]:
        return (
            f"{file} belongs to the cluster {found['cluster_id']}, but the inventory says kafka_cluster_id: "
            f"{node['cluster_id']}; is this the right host? If its data may go, empty the directory"
        )
    if server:
        return (
            f"{file} says {found['id']}, but the inventory says zookeeper_id: {node['id']}; correct the inventory, "
            "or give this server an empty directory"
        )
    return (
        f"{file} belongs to the node {found['id']}, but the inventory says "
        f"kafka_{node['kind']}_id: {node['id']}; correct the inventory, or give it empty directories"
    )


def no_partitions(data_dir: str) -> list[str]:
    """The directories in a data directory with which no broker starts; start-node.sh removes an empty lost+found."""
    others = [name for name in listed(data_dir) if not _OF_A_BROKER.fullmatch(name)]
    paths = {name: os.path.join(data_dir, name) for name in others}
    return [name for name in others if os.path.isdir(paths[name]) and (name != "lost+found" or listed(paths[name]))]


def unformattable(data_dirs: list[str]) -> str:
    """Why the directories of a KRaft node cannot be formatted as they are; empty when they can."""
    for path in data_dirs[1:]:
        if os.path.exists(os.path.join(path, METADATA)):
            return (
                f"{path} holds the cluster's metadata, and Kafka looks for it in the first directory, {data_dirs[0]}; "
                f"write {path} first in kafka_data_dirs, and new directories after it"
            )
    for path in data_dirs:
        names = listed(path)
        if META not in names and not all(map(_OF_A_FORMAT.fullmatch, names)):
            return (
                f"{path} holds data but no meta.properties, so its node and cluster are unknown; put the file back, "
                "or empty the directory if its data may go"
            )
    return ""


def unfit(data_dir: str, user: str, known: re.Pattern[str]) -> str:
    """Why a data directory cannot be used as it is; entries with a known name may lie in it whoever owns it."""
    point = missing_mount(data_dir)
    if point:
        return f"{data_dir} belongs on the file system of {point}, which is not mounted; mount it: mount {point}"
    if os.path.exists(data_dir) and not os.path.isdir(data_dir):
        return f"{data_dir} is not a directory; move it away, or write another one into the inventory"
    return foreign(data_dir, user, known)


def foreign(data_dir: str, user: str, known: re.Pattern[str]) -> str:
    """Why a directory with something else in it must not be used; empty when it may."""
    names = [name for name in listed(data_dir) if name != "lost+found"]
    if not names or any(map(known.fullmatch, names)):
        return ""
    account = owner(os.stat(data_dir).st_uid)
    return (
        ""
        if account == user
        else (
            f"{data_dir} belongs to {account} and holds {few(names)}, which is not for {user}; "
            "empty it, or write another directory into the inventory"
        )
    )
