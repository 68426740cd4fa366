"""The flat template variables of one node, prefixed for its role."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from kcluster.config import escaping, log_files, spark_variables
from kcluster.config.file_paths import UNITS, Paths, data_dirs, paths
from kcluster.config.properties import settings
from kcluster.config.setting import Setting
from kcluster.config.unit_titles import title
from kcluster.model.cluster import Cluster, Part
from kcluster.model.ensemble import Server
from kcluster.model.node import Kind, Node
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon

_METADATA_KINDS = (Kind.ZOOKEEPER, Kind.CONTROLLER)


def for_node(part: Part, node: Node, *, reveal: bool = False) -> dict[str, Any]:
    """The template variables of one node; secrets are `********` unless `reveal`."""
    if isinstance(node, SparkDaemon):
        assert isinstance(part, SparkCluster)
        written = _properties(spark_variables.settings(part, node), reveal)
        return spark_variables.for_daemon(part, node, written, reveal=reveal)
    assert isinstance(part, Cluster)
    return _for_kafka(part, node, reveal=reveal)


def _for_kafka(cluster: Cluster, node: Node, *, reveal: bool) -> dict[str, Any]:
    places = paths(node, log4j2=cluster.release.log4j2)
    values = {
        "title": title(node, cluster.name),
        "properties": _properties(settings(cluster, node), reveal),
        "environment": _environment(node, places, reveal),
        **_logging(node),
        **_service(node, places),
    }
    if isinstance(node, Server):
        return {"zookeeper_server_id": str(node.id)} | {f"zookeeper_server_{word}": v for word, v in values.items()}
    after = [f"{UNITS[kind]}.service" for kind in _METADATA_KINDS if node.kind is Kind.BROKER]
    return {"kafka_server_after": after} | {f"kafka_server_{word}": value for word, value in values.items()}


def shown(setting: Setting) -> Setting:
    """The setting as it may be shown: a secret as `********`."""
    return replace(setting, value=escaping.HIDDEN) if escaping.secret(setting.key, setting.value) else setting


def _properties(node_settings: Iterable[Setting], reveal: bool) -> list[dict[str, str]]:
    return [
        {"key": escaping.property_key(setting.key), "value": escaping.property_value(setting.value)}
        for setting in (node_settings if reveal else map(shown, node_settings))
    ]


def _environment(node: Node, places: Paths, reveal: bool) -> list[dict[str, str]]:
    """The inventory overrides the defaults; its KAFKA_OPTS follow ours, as Java takes the last of two options."""
    option = "log4j2.configurationFile=" if places.logging.endswith(".yaml") else "log4j.configuration=file:"
    ours = {
        "KAFKA_HEAP_OPTS": f"-Xms{node.heap} -Xmx{node.heap}",
        "LOG_DIR": node.places.log_dir,
        "KAFKA_LOG4J_OPTS": f"-D{option}{places.logging}",
        "KAFKA_GC_LOG_OPTS": _gc_log(node),
        # A process out of memory must exit, so that systemd restarts it.
        "KAFKA_OPTS": "-XX:+ExitOnOutOfMemoryError",
    }
    theirs = {name: value if reveal else escaping.masked(name, value) for name, value in node.environment.items()}
    if "KAFKA_OPTS" in theirs:
        theirs["KAFKA_OPTS"] = f"{ours['KAFKA_OPTS']} {theirs['KAFKA_OPTS']}"
    both = ours | dict(sorted(theirs.items()))
    return [{"name": name, "value": escaping.environment_value(value)} for name, value in both.items()]


def _gc_log(node: Node) -> str:
    file = f"{node.places.log_dir}/{UNITS[node.kind]}-gc.log"
    return f"-Xlog:gc*:file={file}:time,tags:filecount=10,filesize=10M"


def _logging(node: Node) -> dict[str, Any]:
    logs = log_files.of(node.kind)
    return {
        "log_dir": node.places.log_dir,
        "log_files": [asdict(file) for file in logs.files],
        "loggers": [asdict(logger) for logger in logs.loggers],
    }


def _service(node: Node, places: Paths) -> dict[str, Any]:
    writable = list(dict.fromkeys((*data_dirs(node), node.places.log_dir)))
    in_home = any(path.startswith(("/home/", "/root/")) for path in (*writable, node.places.install_dir))
    return {
        "user": node.places.user,
        "group": node.places.group,
        "install_dir": node.places.install_dir,
        "unit": UNITS[node.kind],
        "config_file": places.config,
        "environment_file": places.environment,
        "logging_file": places.logging,
        "unit_file": places.unit,
        "writable_dirs": writable,
        "protect_home": "read-only" if in_home else "true",
    }
