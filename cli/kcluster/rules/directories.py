"""Rules about directories: data on permanent disks, apart from everything else, under paths that need no quotes."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Server
from kcluster.model.finding import WHO, Finding, Location
from kcluster.model.node import Node
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon, SparkWorker

_CLEANED = ("/tmp", "/var/tmp", "/run", "/dev/shm")
_PLAIN = re.compile(r"[\w./+@=-]+", re.ASCII)
"""Paths that need no quotes in systemd units, in the shell of their commands, in lists and in Java options."""
_SHARED = re.compile(r"/|/(etc|home|opt|root|run|tmp|usr|var)|/usr/local|/var/(cache|lib|log|spool|tmp)")
"""Directories that other programs use too."""
_OF_THE_SYSTEM = re.compile(
    r"/(boot|dev|proc|sys|etc/systemd|usr/(include|libexec|share|src)|(usr/)?(bin|sbin|lib(32|64|x32)?))(/.*)?"
)


def no_temporary_data(cluster: Cluster) -> Iterator[Finding]:
    """No data directory lies where the system cleans up."""
    for node, path, variable in _data_directories(cluster):
        cleaned = next((folder for folder in _CLEANED if _inside(path, folder)), "")
        if cleaned:
            fact = f"{variable} of {WHO} is {path}: the system deletes files in {cleaned}"
            yield _path_finding(node, variable, fact, "use a directory on a permanent disk")


def data_directories_disjoint(cluster: Cluster) -> Iterator[Finding]:
    """A data directory belongs to one node and lies in no other."""
    by_machine: dict[str, list[tuple[Node, str, str]]] = defaultdict(list)
    for node, path, variable in _data_directories(cluster):
        by_machine[node.host.address].append((node, path, variable))
    for directories in by_machine.values():
        for place, (node, path, variable) in enumerate(directories):
            for other, inner, _ in directories[:place]:
                if _inside(path, inner) or _inside(inner, path):
                    same = node is other
                    both = f"{inner} and {path}" if same else f"{inner} of {other.name} and {path} of {node.name}"
                    fact = f"data directories {both} overlap on {WHO}"
                    yield _path_finding(node, variable, fact, "use a separate directory for each")


def data_apart_from_program(cluster: Cluster) -> Iterator[Finding]:
    """No data directory contains the program, its configuration or its logs, or lies in them."""
    for node, path, variable in _data_directories(cluster):
        for other, folder in _program_directories(node):
            if _inside(path, folder) or _inside(folder, path):
                fact = f"{variable} of {WHO} is {path} and {other} is {folder}: one contains the other"
                yield _path_finding(node, variable, fact, "use a separate directory for the data")


def paths_without_special_characters(cluster: Cluster) -> Iterator[Finding]:
    """Paths have only characters that units, lists and options take without quotes."""
    for node, path, variable in _every_path(cluster):
        if not _PLAIN.fullmatch(path):
            fact = f"{variable} of {WHO} is {path!r}, which systemd units and property lists would split or expand"
            yield _path_finding(node, variable, fact, "use letters, digits, `.`, `-`, `_` and `/` only")


def no_system_directories(cluster: Cluster) -> Iterator[Finding]:
    """No directory of a node is one of the system: kcluster sets owner and mode of each."""
    for node, path, variable in _every_path(cluster):
        plain = posixpath.normpath(f"/{path.lstrip('/')}")
        if _SHARED.fullmatch(plain) or _OF_THE_SYSTEM.fullmatch(plain):
            fact = f"{variable} of {WHO} is {path}, a system directory: its owner and mode would change"
            yield _path_finding(node, variable, fact, "use a separate directory; kcluster creates it if missing")


def _path_finding(node: Node, variable: str, message: str, resolution: str) -> Finding:
    """A finding about a directory of one node, located at its variable."""
    return Finding(message, resolution, Location(node.host.name, variable), who=node.host.name)


def _every_path(cluster: Cluster) -> Iterator[tuple[Node, str, str]]:
    """Every directory that kcluster creates on hosts, and the variable that sets it."""
    yield from _data_directories(cluster)
    for node in cluster.every_node:
        if not node.host.local:
            yield from ((node, path, variable) for variable, path in _program_directories(node))


def _program_directories(node: Node) -> Iterator[tuple[str, str]]:
    """The directories of the program, its configuration and its logs, with the variable that sets each."""
    prefix = "spark" if isinstance(node, SparkDaemon) else "kafka"
    yield f"{prefix}_install_dir", node.places.install_dir
    yield f"{prefix}_config_dir", node.places.config_dir
    yield f"{prefix}_log_dir", node.places.log_dir


def _data_directories(cluster: Cluster) -> Iterator[tuple[Node, str, str]]:
    """Every data directory, and the variable that sets it; not of local hosts, where `kcluster up` chooses them."""
    for node in cluster.every_node:
        if node.host.local:
            continue
        if isinstance(node, Server):
            yield node, node.data_dir, "zookeeper_data_dir"
            if node.log_dir and node.log_dir != node.data_dir:
                yield node, node.log_dir, "zookeeper_log_dir"
        elif isinstance(node, Controller):
            yield node, node.data_dir, "kafka_controller_data_dir"
        elif isinstance(node, Broker):
            for path in node.data_dirs:
                yield node, path, "kafka_data_dirs"
        elif isinstance(node, SparkWorker):
            yield node, node.work_dir, "spark_work_dir"


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


RULES = (
    no_temporary_data,
    data_directories_disjoint,
    data_apart_from_program,
    paths_without_special_characters,
    no_system_directories,
)
