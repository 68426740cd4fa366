"""`render`: the files of each host, printed, written to a directory, or explained line by line."""

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
    """The rendered files of the selected nodes."""

    files: Sequence[PlacedFile]

    def data(self) -> Any:
        """One flat entry for each file."""
        return [{"host": placed.host, "node": placed.node, **asdict(placed.file)} for placed in self.files]

    def view(self) -> Iterable[Block]:
        """Each file under a comment line with its host and path."""
        for at, placed in enumerate(self.files):
            if at:
                yield ""
            yield Cell(f"# --- {placed.host}:{placed.file.path}", Tone.DIM)
            yield placed.file.text.removesuffix("\n")


@dataclass(frozen=True)
class WrittenFiles(Result):
    """The files written to a directory: new, changed, unchanged."""

    folder: str
    new: Sequence[str]
    changed: Sequence[str]
    same: int

    def view(self) -> Iterable[Block]:
        """The new and changed files, then a line with counts."""
        for path in self.new:
            yield Cell(f"new      {path}", Tone.GOOD)
        for path in self.changed:
            yield Cell(f"changed  {path}", Tone.WARN)
        yield f"{self.folder}: {len(self.new)} new, {len(self.changed)} changed, {self.same} unchanged"


@dataclass(frozen=True)
class ExplainedFile(Result):
    """The configuration lines of the selected nodes, with origin and reason."""

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


def with_local_layout(cluster: Cluster) -> Cluster:
    """A local cluster with the directories and ports of `up`; any other cluster unchanged."""
    if not cluster.local:
        return cluster
    from kcluster.clients import ports  # lazily: real hosts need none of it
    from kcluster.local import layout, up_request
    from kcluster.local.cluster_record import ClusterRecord, owned_ports

    root = up_request.cluster_dir(cluster.name)
    known = ClusterRecord.load(root)
    taken = owned_ports(besides=cluster.name)
    kept = known.ports if known else {}
    chosen = layout.choose_ports(
        layout.configured_ports(cluster), kept, lambda port: port not in taken and ports.free(port)
    )
    return layout.place(cluster, layout.Placement(root, chosen))


def rendered(cluster: Cluster, names: Sequence[str] = ()) -> RenderedFiles:
    """The files of the named hosts or nodes, or of all."""
    return RenderedFiles(tuple(_placed(cluster, select_nodes(cluster, names))))


def written(cluster: Cluster, folder: Path, names: Sequence[str] = ()) -> WrittenFiles:
    """Write the files that differ to FOLDER/<host>/<path>; other files there are not touched."""
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
    """The configuration lines of the named hosts or nodes, or of all, with origin and reason."""
    explained_files = []
    for node in select_nodes(cluster, names):
        config = next(file for file in render.files(cluster.part_of(node), node) if file.role is render.Role.CONFIG)
        explained_files.append((_place(node, config), tuple(_reasons(cluster, node))))
    return ExplainedFile(tuple(explained_files))


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
    """The first sentence of the release's documentation of a property; empty when there is none."""
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
        return ""  # no text file: it counts as changed
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
    return RefusedError(f"cannot {verb} {target}: {problem.strerror}", resolution="choose another directory with --out")
