"""Rules about directories: data that stays, on disks of its own, under names that mean the same everywhere."""

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
"""Paths that mean themselves in units of systemd, in the shell they start, in lists and in options of Java."""
_SHARED = re.compile(r"/|/(etc|home|opt|root|run|tmp|usr|var)|/usr/local|/var/(cache|lib|log|spool|tmp)")
"""Folders in which others have theirs."""
_OF_THE_SYSTEM = re.compile(
    r"/(boot|dev|proc|sys|etc/systemd|usr/(include|libexec|share|src)|(usr/)?(bin|sbin|lib(32|64|x32)?))(/.*)?"
)


def temporary(cluster: Cluster) -> Iterator[Finding]:
    """Data does not lie where the system cleans up."""
    for node, path, word in _directories(cluster):
        found = next((folder for folder in _CLEANED if _inside(path, folder)), "")
        if found:
            yield Finding(
                f"{word} of {WHO} is {path}; the system deletes what lies in {found}",
                "use a directory on a disk that stays",
                Location(node.host.name, word),
                who=node.host.name,
            )


def overlapping(cluster: Cluster) -> Iterator[Finding]:
    """A data directory belongs to one node and lies in no other."""
    by_machine: dict[str, list[tuple[Node, str, str]]] = defaultdict(list)
    for node, path, word in _directories(cluster):
        by_machine[node.host.address].append((node, path, word))
    for found in by_machine.values():
        for place, (node, path, word) in enumerate(found):
            for other, inner, _ in found[:place]:
                if _inside(path, inner) or _inside(inner, path):
                    both = f"{inner} and {path}"
                    if node is not other:
                        both = f"{inner} of {other.name} and {path} of {node.name}"
                    yield Finding(
                        f"the data directories {both} overlap on {WHO}",
                        "give each data directory a place of its own",
                        Location(node.host.name, word),
                        who=node.host.name,
                    )


def beside_the_program(cluster: Cluster) -> Iterator[Finding]:
    """Data does not lie in the directories of the program, its configuration and its logs, or they in it."""
    for node, path, word in _directories(cluster):
        for other, folder in _places(node):
            if _inside(path, folder) or _inside(folder, path):
                yield Finding(
                    f"{word} of {WHO} is {path}, and {other} is {folder}: one lies in the other",
                    "keep the data in a directory of its own",
                    Location(node.host.name, word),
                    who=node.host.name,
                )


def plain_paths(cluster: Cluster) -> Iterator[Finding]:
    """Units, lists and options name paths without quotes."""
    for node, path, word in _every_path(cluster):
        if not _PLAIN.fullmatch(path):
            yield Finding(
                f"{word}={path} of {WHO} would come apart in units and settings",
                "write a path of letters, digits, dots, dashes and underscores",
                Location(node.host.name, word),
                who=node.host.name,
            )


def folders_of_its_own(cluster: Cluster) -> Iterator[Finding]:
    """Owner and mode of what a node gets are set, and others may be kept out: no folder of the system may be it."""
    for node, path, word in _every_path(cluster):
        plain = posixpath.normpath(f"/{path.lstrip('/')}")
        if _SHARED.fullmatch(plain) or _OF_THE_SYSTEM.fullmatch(plain):
            yield Finding(
                f"{word} of {WHO} is {path}, a folder of the system, whose owner and mode would change",
                "write a folder that is for nothing else; it is made where it is missing",
                Location(node.host.name, word),
                who=node.host.name,
            )


def _every_path(cluster: Cluster) -> Iterator[tuple[Node, str, str]]:
    """Every directory that kcluster makes on hosts, and the word that sets it."""
    yield from _directories(cluster)
    for node in cluster.every_node:
        if not node.host.local:
            yield from ((node, path, word) for word, path in _places(node))


def _places(node: Node) -> Iterator[tuple[str, str]]:
    """The directories of its program, by their words."""
    prefix = "spark" if isinstance(node, SparkDaemon) else "kafka"
    yield f"{prefix}_install_dir", node.places.install_dir
    yield f"{prefix}_config_dir", node.places.config_dir
    yield f"{prefix}_log_dir", node.places.log_dir


def _directories(cluster: Cluster) -> Iterator[tuple[Node, str, str]]:
    """Every data directory, and the word that sets it; `kcluster up` chooses those of local hosts itself."""
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


RULES = (temporary, overlapping, beside_the_program, plain_paths, folders_of_its_own)
