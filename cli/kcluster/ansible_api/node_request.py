"""For the action `node`: what its module is asked about a node, and what its answer means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kcluster import render
from kcluster.ansible_api import whose
from kcluster.config.file_paths import OWN, UNITS, data_dirs, paths
from kcluster.model.cluster import Cluster, Part
from kcluster.model.node import Kind, Node
from kcluster.model.observed import ObservedFile, ObservedHost, ObservedNode, ObservedUnit
from kcluster.model.quorum import Quorum
from kcluster.plan.file_diff import hidden
from kcluster.plan.pairs import Pair
from kcluster.plan.restart_reasons import reasons
from kcluster.render import RenderedFile, Role

_KEPT = (Role.CONFIG, Role.ENVIRONMENT, Role.LOGGING, Role.UNIT)
"""What a unit copies to /run when it starts the node."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class NodeRequest:
    """A node of this host, with its files as they shall be, secrets and all."""

    part: Part
    node: Node
    files: tuple[RenderedFile, ...]

    @classmethod
    def of(cls, cluster: Cluster, node: Node) -> NodeRequest:
        """A node with its files."""
        part = cluster.part_of(node)
        return cls(part, node, render.files(part, node, reveal=True))

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.name

    @property
    def question(self) -> dict[str, Any]:
        """Everything the module needs to know."""
        node, places = self.node, self.node.places
        metadata = self.part.metadata if isinstance(self.part, Cluster) else None
        return {
            "name": node.name,
            "kind": node.kind.value,
            "id": node.id,
            "unit": UNITS[node.kind],
            "whose": whose(self.part, [node]),
            "user": places.user,
            "group": places.group,
            "release_dir": f"{places.install_dir}/{self.part.release.directory}",
            "link": paths(node, log4j2=False).release,
            "config_file": next(file.path for file in self.files if file.role is Role.CONFIG),
            "log_dir": places.log_dir,
            "data_dirs": list(data_dirs(node)),
            "directories": list(self._directories()),
            "files": [self._file(file) for file in self.files],
            "format": isinstance(metadata, Quorum) and node.kind is not Kind.ZOOKEEPER,
            "cluster_id": metadata.cluster_id if isinstance(metadata, Quorum) else "",
            "environment": {"PATH": _PATH, **_java(node)},
        }

    def reasons(self, kept: Mapping[str, Any], before: Mapping[str, str | None]) -> tuple[str, ...]:
        """Why the running process needs a restart; `before` has the files that were not as they shall be."""
        found = {file.path: before.get(file.path, file.text) for file in self.files}
        there = {path: ObservedFile(text, "") for path, text in found.items() if text is not None}
        started = {file.path: kept["files"].get(file.path, file.text) for file in self.files if file.role in _KEPT}
        seen = ObservedNode(
            ObservedUnit("active"),
            files=there,
            started_with={path: text for path, text in started.items() if text is not None},
            started_release=kept["release"] or self.part.release.directory,
        )
        return reasons(Pair(self.part, self.node, ObservedHost(self.node.host.name, nodes={self.node.name: seen})))

    def _file(self, file: RenderedFile) -> dict[str, Any]:
        """A file; what is not for everybody is for root and the service."""
        group = self.node.places.group if file.mode == "0640" else "root"
        asked = {"path": file.path, "text": file.text, "mode": file.mode, "kept": file.role in _KEPT}
        return {**asked, "owner": "root", "group": group}

    def _directories(self) -> Iterator[dict[str, str]]:
        """The directories: configuration is root's, logs and data are the service's."""
        places = self.node.places
        yield {"path": places.config_dir, "owner": "root", "group": "root", "mode": "0755"}
        for path in (places.log_dir, *data_dirs(self.node)):
            yield {"path": path, "owner": places.user, "group": places.group, "mode": OWN}


def _java(node: Node) -> dict[str, str]:
    return {name: node.environment[name] for name in ("JAVA_HOME",) if name in node.environment}


def diff(nodes: Iterable[NodeRequest], differing: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """What differs as Ansible shows it: texts with their secrets hidden, then owner, group and mode."""
    files = {file.path: file for node in nodes for file in node.files}
    for thing in differing:
        path, file, now = thing["path"], files.get(thing["path"]), thing["attributes"]
        if file and thing["text"] != file.text:
            yield _entry(path if now else f"{path} ({thing['wanted']})", *_texts(file, thing["text"]))
        if now != thing["wanted"] and (now or not file):
            yield _entry(f"owner and mode of {path}", now and f"{now}\n", f"{thing['wanted']}\n")


def _texts(file: RenderedFile, text: str | None) -> tuple[str, str]:
    before, after = (one and f"{hidden(file.role, one).rstrip()}\n" for one in (text or "", file.text))
    return (before, f"{after}(a secret changes)\n") if before == after else (before, after)


def _entry(what: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": what, "after_header": what, "before": before, "after": after}
