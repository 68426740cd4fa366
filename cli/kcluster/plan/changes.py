"""What changes on one host: account, release, directories, files, storage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from kcluster import render
from kcluster.config.file_paths import OWN, paths
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.node import Node
from kcluster.model.observed import ObservedFile
from kcluster.plan import file_diff
from kcluster.plan.pairs import Pair
from kcluster.plan.steps import Action, Change


def changes(pairs: Sequence[Pair]) -> Iterator[Change]:
    """Everything that changes on the host of these nodes."""
    if not pairs:
        return
    yield from _host(pairs)
    shared: set[str] = set()
    for pair in pairs:
        yield from _directories(pair)
        yield from _link(pair)
        yield from (change for change in _files(pair) if change.what not in shared)
        shared |= {file.path for file in pair.files}
        yield from _format(pair)
        if pair.observed.unit.state != "missing" and not pair.observed.unit.enabled:
            yield Change(pair.host.name, Action.ENABLE, f"{pair.unit}.service", pair.node.name, "starts with the host")


def _host(pairs: Sequence[Pair]) -> Iterator[Change]:
    host = pairs[0].host
    release, oldest = pairs[0].part.release.directory, pairs[0].part.release.java
    if _feature(host.java) < oldest:
        note = f"found {host.java or 'none'}; set kafka_install_java: true to install it"
        yield Change(host.name, Action.CREATE, f"Java {oldest} or newer", note=note)
    for what, before, after in host.preparation.changes:
        yield Change(host.name, _made(before), what, note=before and f"{before} -> {after}")
    for path, there in host.preparation.files:
        yield Change(host.name, _made(there), path)
    if release not in host.releases:
        yield Change(host.name, Action.PUSH, f"release {release}")
    if host.current != release:
        yield Change(
            host.name, _made(host.current), f"current -> {release}", note=host.current and f"was {host.current}"
        )


def _made(there: object) -> Action:
    return Action.CHANGE if there else Action.CREATE


def _feature(java: str) -> int:
    """The 17 of "17.0.19" and the 8 of "1.8.0_292"; 0 when there is none."""
    numbers = [int(number) for number in re.findall(r"\d+", java)]
    return numbers[1] if numbers[:1] == [1] and len(numbers) > 1 else next(iter(numbers), 0)


def wanted_directory(node: Node) -> str:
    """Owner, group and mode of a data directory as they shall be."""
    return f"{node.places.user}:{node.places.group} {OWN}"


def wanted_file(node: Node, file: render.RenderedFile) -> str:
    """Owner, group and mode of a file as they shall be: what not all may read is for root and the service."""
    return f"root:{node.places.group if file.mode == '0640' else 'root'} {file.mode}"


def _directories(pair: Pair) -> Iterator[Change]:
    wanted = wanted_directory(pair.node)
    for path, found in pair.directories:
        if found is None or found.attributes != wanted:
            note = f"{found.attributes} -> {wanted}" if found else ""
            yield Change(pair.host.name, _made(found), f"directory {path}", pair.node.name, note)


def _files(pair: Pair) -> Iterator[Change]:
    for file in pair.files:
        found = pair.observed.files.get(file.path)
        if found is None:
            yield Change(pair.host.name, Action.CREATE, file.path, pair.node.name)
        elif notes := list(_differences(pair, file, found)):
            diff = file_diff.difference(file.role, found.text, file.text)
            yield Change(pair.host.name, Action.CHANGE, file.path, pair.node.name, ", ".join(filter(None, notes)), diff)


def _differences(pair: Pair, file: render.RenderedFile, found: ObservedFile) -> Iterator[str]:
    """A note for each thing that differs, empty where the diff shows it."""
    wanted = wanted_file(pair.node, file)
    if found.attributes != wanted:
        yield f"{found.attributes} -> {wanted}"
    if found.text != file.text:
        same = file_diff.secrets(file.role, found.text) == file_diff.secrets(file.role, file.text)
        yield "" if same else "a secret changes"


def _link(pair: Pair) -> Iterator[Change]:
    """A unit that has a process gets another release with its restart."""
    before, running = pair.observed.link, pair.observed.started_release if pair.running else ""
    after = running if running in pair.host.releases else pair.part.release.directory
    if before != after:
        what = f"{basename(paths(pair.node, log4j2=False).release)} -> {after}"
        yield Change(pair.host.name, _made(before), what, pair.node.name, before and f"was {before}")


def _format(pair: Pair) -> Iterator[Change]:
    """KRaft storage is formatted once per directory; with ZooKeeper a broker does it by itself."""
    if not isinstance(pair.part, Cluster) or isinstance(pair.part.metadata, Ensemble):
        return
    for path, found in pair.directories:
        if not (found and found.meta):
            note = f"cluster id {pair.part.metadata.cluster_id}"
            yield Change(pair.host.name, Action.FORMAT, path, pair.node.name, note)
