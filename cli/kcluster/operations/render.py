"""Showing what lands on the hosts: the files, the same files in a folder, or the reason for each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kcluster import render
from kcluster.config import properties, property_tables
from kcluster.config.node_variables import shown
from kcluster.config.setting import Setting
from kcluster.errors import RefusedError
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Server
from kcluster.model.node import Node
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.results import Block, Cell, Grid, Result, Tone
from kcluster.rollout.node_selection import select_nodes

_SYSTEMD = (render.Role.UNIT, render.Role.SCRIPT)
_LISTENER_PREFIX = re.compile(r"^listener\.name\.[^.]+\.")


@dataclass(frozen=True)
class PlacedFile:
    """One file and the host it lands on."""

    host: str
    node: str
    file: render.RenderedFile


@dataclass(frozen=True)
class RenderedFiles(Result):
    """Every file that was asked for."""

    files: Sequence[PlacedFile]

    def data(self) -> Any:
        """One flat entry for each file."""
        return [{"host": placed.host, "node": placed.node, **asdict(placed.file)} for placed in self.files]

    def view(self) -> Iterable[Block]:
        """Each file under a comment line that says where it lands."""
        for at, placed in enumerate(self.files):
            if at:
                yield ""
            yield Cell(f"# --- {placed.host}:{placed.file.path}", Tone.DIM)
            yield placed.file.text.removesuffix("\n")


@dataclass(frozen=True)
class WrittenFiles(Result):
    """What a folder holds now, and what of it is new."""

    folder: str
    new: Sequence[str]
    changed: Sequence[str]
    same: int

    def view(self) -> Iterable[Block]:
        """The files that are not as they were, then one line that counts them."""
        for path in self.new:
            yield Cell(f"new      {path}", Tone.GOOD)
        for path in self.changed:
            yield Cell(f"changed  {path}", Tone.WARN)
        yield f"{self.folder}: {len(self.new)} new, {len(self.changed)} changed, {self.same} as they were"


@dataclass(frozen=True)
class ExplainedFile(Result):
    """Where each line of the configuration files comes from."""

    files: Sequence[tuple[PlacedFile, Sequence[Setting]]]

    def data(self) -> Any:
        """One entry for each configuration file, with its lines."""
        return [
            {
                "host": placed.host,
                "node": placed.node,
                "path": placed.file.path,
                "lines": [asdict(setting) for setting in settings],
            }
            for placed, settings in self.files
        ]

    def view(self) -> Iterable[Block]:
        """A table for each configuration file."""
        for at, (placed, settings) in enumerate(self.files):
            if at:
                yield ""
            yield Cell(f"# --- {placed.host}:{placed.file.path}", Tone.DIM)
            rows = [(setting.key, setting.value, setting.source, setting.why) for setting in settings]
            yield Grid(("KEY", "VALUE", "SOURCE", "WHY"), rows)


def as_placed(cluster: Cluster) -> Cluster:
    """A local cluster with the folders and ports that `up` gives it on this machine; any other as it is."""
    if not cluster.local:
        return cluster
    from kcluster.clients import ports  # lazily: real hosts need none of it
    from kcluster.local import layout, up_request
    from kcluster.local.cluster_record import ClusterRecord, owned_ports

    root = up_request.cluster_dir(cluster.name)
    known = ClusterRecord.load(root)
    taken = owned_ports(besides=cluster.name)
    kept = known.ports if known else {}
    chosen_ports = layout.choose_ports(
        layout.wanted_ports(cluster), kept, lambda port: port not in taken and ports.free(port)
    )
    return layout.place(cluster, layout.Placement(root, chosen_ports))


def rendered(cluster: Cluster, names: Sequence[str] = ()) -> RenderedFiles:
    """Every file of the named hosts or nodes, or of all."""
    return RenderedFiles(tuple(_placed(cluster, select_nodes(cluster, names))))


def written(cluster: Cluster, folder: Path, names: Sequence[str] = ()) -> WrittenFiles:
    """Write the same files below a folder, as FOLDER/<host>/<path>; other files in it are left alone."""
    new: list[str] = []
    changed: list[str] = []
    same = 0
    for placed in _placed(cluster, select_nodes(cluster, names)):
        target = folder / placed.host / placed.file.path.lstrip("/")
        before = _read(target)
        if before == placed.file.text:
            same += 1
            continue
        _write(target, placed.file)
        (new if before is None else changed).append(str(target))
    return WrittenFiles(str(folder), tuple(new), tuple(changed), same)


def explained(cluster: Cluster, names: Sequence[str] = ()) -> ExplainedFile:
    """Each line of the configuration files with its origin and its reason."""
    found = []
    for node in select_nodes(cluster, names):
        config = next(file for file in render.files(cluster.part_of(node), node) if file.role is render.Role.CONFIG)
        found.append((_place(node, config), tuple(_reasons(cluster, node))))
    return ExplainedFile(tuple(found))


def _placed(cluster: Cluster, nodes: Iterable[Node]) -> Iterator[PlacedFile]:
    for node in nodes:
        for file in render.files(cluster.part_of(node), node):
            if not (node.host.local and file.role in _SYSTEMD):  # `up` starts processes without it
                yield _place(node, file)


def _place(node: Node, file: render.RenderedFile) -> PlacedFile:
    return PlacedFile(node.host.name, node.name, file)


def _reasons(cluster: Cluster, node: Node) -> Iterator[Setting]:
    for setting in map(shown, properties.settings(cluster.part_of(node), node)):
        yield setting if setting.why else replace(setting, why=_meaning(cluster, node, setting.key))


def _meaning(cluster: Cluster, node: Node, key: str) -> str:
    """What a property does, in the first sentence of the release's own words."""
    if isinstance(node, SparkDaemon):
        return ""
    zookeeper = isinstance(node, Server)
    table = property_tables.zookeeper_table() if zookeeper else property_tables.table(cluster.release.version)
    known = table.get(key) or table.get(_LISTENER_PREFIX.sub("", key))
    return re.split(r"(?<=[^.]\.)\s+(?=[A-Z])|\n", known.doc.strip(), maxsplit=1)[0].rstrip(".") if known else ""


def _read(target: Path) -> str | None:
    try:
        return target.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""  # not a file of ours: it counts as changed
    except OSError as problem:
        raise _cannot("read", target, problem) from problem


def _write(target: Path, file: render.RenderedFile) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch(mode=0o600)
        target.chmod(0o600 if file.secret else 0o644)
        target.write_text(file.text, encoding="utf-8")
    except OSError as problem:
        raise _cannot("write", target, problem) from problem


def _cannot(verb: str, target: Path, problem: OSError) -> RefusedError:
    return RefusedError(f"cannot {verb} {target}: {problem.strerror}", resolution="give another folder with --out")
