"""The query to a host about a cluster: its units, folders and data, and the names that show they are kcluster's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from kcluster.config import file_paths, log_files, unit_titles
from kcluster.model.cluster import Cluster
from kcluster.model.cluster import Part as Software
from kcluster.model.ensemble import Server
from kcluster.model.host import Host
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Quorum
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon, SparkMaster, SparkWorker

NO_COMMON_ID = "that most brokers share: there is none"
"""Stands for the cluster's id where the brokers do not agree: no directory has it, so none is touched."""

_FRESH = r"\.kcluster-\w+"
"""A file that was written by an interrupted run and not yet renamed."""
_KAFKA_DATA = (
    r"(meta\.properties|bootstrap\.checkpoint|[a-z-]+-checkpoint)(\.tmp)?",
    r"\.lock|\.kafka_cleanshutdown|remote-log-index-cache",
    _FRESH,
    r"[A-Za-z0-9._-]+-\d+(\.[0-9a-f]{32}-(delete|future|stray))?",
)
"""All that Kafka writes into a data directory: its own files, and one directory for each replica."""
_KAFKA_REPLICA = (
    r"(leader-epoch-checkpoint|partition\.metadata|quorum-state)(\.tmp)?",
    r"[\w.-]+\.(log|index|timeindex|txnindex|snapshot|checkpoint)(\.(deleted|cleaned|swap|tmp|part))*",
)
"""All that is in the directory of a replica, so that one of somebody else, such as 2026-11-18, is not taken for one."""
_ZOOKEEPER_DATA = (r"myid", r"version-2", r"initialize", r"zookeeper_server\.pid", _FRESH)
_ZOOKEEPER_STORE = (r"(log|snapshot)\.[0-9a-f]+([.-].*)?", r"(accepted|current|updating)Epoch(\.tmp)?")
_RELEASES = (
    r"\.?(kafka_|spark-)\d[\w.-]*",
    r"current(-[a-z-]+)?|\.current(-[a-z-]+)?\.new",
    r"(start-node|before-start)\.sh",
    _FRESH,
)
"""The script of the units had another name once."""
_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_WORK = (r"jobs", r"scratch")
_IN_WORK = (r"(app|driver)-\d{14}-\d{4,}", rf"(spark|blockmgr)-{_UUID}")
"""What a worker makes: a folder for each job, and where executors put aside what is large."""
_REMEMBERED = (r"(app|driver|worker)_[\w.-]+",)
"""What a master without ZooKeeper remembers."""


class DestroyPart(StrEnum):
    """The steps of taking a cluster away, in their order."""

    WORKERS = "workers"
    MASTERS = "masters"
    BROKERS = "brokers"
    KEEPERS = "keepers"
    HOST = "host"


def survey_query(
    cluster: Cluster, host: Host, parts: Sequence[DestroyPart], *, cluster_id: str = "", delete_data: bool = False
) -> dict[str, Any]:
    """The query to one host, as plugins/module_utils/removal.py expects it."""
    there = [(software, software.on(host)) for software in cluster.parts if software.on(host)]
    folders = [folder for software, nodes in there for folder in _folders(software, nodes)]
    return {
        "nodes": [_node(software, node) for software, nodes in there for node in nodes if _part(node) in parts],
        "folders": folders if DestroyPart.HOST in parts else [],
        "sizes": False,
        "cluster_id": cluster.metadata.cluster_id if isinstance(cluster.metadata, Quorum) else cluster_id,
        "delete_data": delete_data,
    }


def common_id(found: Iterable[str]) -> str:
    """The cluster id that most data directories carry; with ZooKeeper the inventory does not know it."""
    ids = Counter(one for one in found if one)
    if not ids:
        return ""
    ((most, count),) = ids.most_common(1)
    return most if 2 * count > ids.total() else NO_COMMON_ID


def another(cluster_id: str, common: str) -> str:
    """Why a data directory must not be touched: it is of another cluster; empty when it is not."""
    return f"belongs to the cluster {cluster_id}, not to {common}" if cluster_id and cluster_id != common else ""


def _part(node: Node) -> DestroyPart:
    return _PARTS.get(node.kind, DestroyPart.KEEPERS)


_PARTS = {
    Kind.BROKER: DestroyPart.BROKERS,
    Kind.SPARK_MASTER: DestroyPart.MASTERS,
    Kind.SPARK_WORKER: DestroyPart.WORKERS,
}


def _node(software: Software, node: Node) -> dict[str, Any]:
    unit = file_paths.UNITS[node.kind]
    return {
        "name": node.name,
        "unit": unit,
        "unit_file": file_paths.paths(node, log4j2=True).unit,
        "title": unit_titles.title(node, software.name),
        "data": _left_by(software, node) if isinstance(software, SparkCluster) else _data(node),
    }


def _data(node: Node) -> list[dict[str, Any]]:
    known = {"id": str(node.id)}
    if isinstance(node, Server):
        zookeeper = {**known, "identity": f"{node.data_dir}/myid", "ours": list(_ZOOKEEPER_DATA)}
        zookeeper["inside"] = list(_ZOOKEEPER_STORE)
        return [{**zookeeper, "path": path} for path in file_paths.data_dirs(node)]
    kafka = {**known, "ours": list(_KAFKA_DATA), "inside": list(_KAFKA_REPLICA)}
    return [{**kafka, "path": path, "identity": f"{path}/meta.properties"} for path in file_paths.data_dirs(node)]


def _left_by(engine: SparkCluster, node: Node) -> list[dict[str, Any]]:
    """What Spark leaves in its directories: no id says whose it is, and only the names that Spark gives are taken."""
    if isinstance(node, SparkWorker):
        return [{**_NAMELESS, "path": node.work_dir, "ours": list(_WORK), "inside": list(_IN_WORK)}]
    remembered = {**_NAMELESS, "path": _state(node), "ours": list(_REMEMBERED), "inside": []}
    return [] if engine.keepers else [remembered]


_NAMELESS = {"id": "", "identity": ""}


def _state(node: Node) -> str:
    """The folder that systemd makes for a unit of Spark."""
    return f"/var/lib/{file_paths.UNITS[node.kind]}"


def _folders(software: Software, nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """The folders of a host that hold no data, each with the names of all that we put there or that our nodes write."""
    where = nodes[0].places
    written = [file_paths.paths(node, log4j2=log4j2) for node in nodes for log4j2 in (True, False)]
    configs = {path.rpartition("/")[2] for one in written for path in (one.config, one.environment, one.logging)}
    return [
        {"path": where.config_dir, "ours": [*map(re.escape, sorted(configs)), _FRESH]},
        {"path": where.install_dir, "ours": list(_RELEASES)},
        {"path": where.log_dir, "ours": [pattern for node in nodes for pattern in _logs(node)]},
        *(folder for node in nodes for folder in _of_systemd(software, node)),
    ]


def _of_systemd(software: Software, node: Node) -> Iterator[dict[str, Any]]:
    """The folders that systemd makes for a unit: for Kafka's an archive of classes, for most of Spark's nothing."""
    if not isinstance(software, SparkCluster):
        yield {"path": f"/var/cache/{file_paths.UNITS[node.kind]}", "ours": [r".*"]}
    elif software.keepers or not isinstance(node, SparkMaster):
        yield {"path": _state(node), "ours": []}


def _logs(node: Node) -> list[str]:
    """The files a node logs to, the older ones among them, and what Java writes when it dies."""
    rolled = [rf"{re.escape(file.file)}(\.\d+)?" for file in log_files.of(node.kind).files]
    collector = [] if isinstance(node, SparkDaemon) else [rf"{file_paths.UNITS[node.kind]}-gc\.log(\.\d+)?"]
    return [*rolled, *collector, r"hs_err_pid\d+\.log"]
