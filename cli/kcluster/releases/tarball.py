"""The archive of a release for hosts: one plain .tar with its SHA-512, built once and cached."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from kcluster import paths
from kcluster.model.release import Release
from kcluster.releases import archive, cache
from kcluster.releases.fetch import fetch
from kcluster.results import Progress

_AT_ONCE = 1 << 30
"""Bytes that are sent at once: the sender has a copy of the release in memory for each host."""


@dataclass(frozen=True)
class Tarball:
    """A release in one file."""

    path: Path
    sha512: str
    size: int

    def whole(self) -> bool:
        """Whether the file is there with its SHA-512."""
        return self.path.is_file() and archive.sha512(self.path) == self.sha512


def tarball(release: Release, progress: Progress) -> Tarball:
    """The archive of a release, fetched and built where it is missing; blocks while another run builds it."""
    home = fetch(release, progress)
    marker = cache.read_marker(home)
    assert marker, "what is fetched is marked"
    files = {name: home / name for name in marker.files}
    return once(release.directory, cache.sha256(home / cache.MARKER), lambda: files)


def once(directory: str, made_of: str, files: Callable[[], Mapping[str, Path]]) -> Tarball:
    """The archive of these files; built unless a cached one has the same `made_of`."""
    file = folder() / f"{directory}.tar"
    with _lock(f".{directory}.lock"):
        return _kept(file, made_of) or _made(files(), file, made_of)


def forget(tar: Tarball) -> None:
    """Remove a damaged archive, so that the next run builds it again."""
    _record(tar.path).unlink(missing_ok=True)
    tar.path.unlink(missing_ok=True)


@contextmanager
def turn(size: int) -> Iterator[None]:
    """Wait for one of the slots in which a release of this size may be sent from this machine."""
    turns = max(1, _AT_ONCE // size)
    for number in range(turns):
        with _slot(number).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield
            return
    with _lock(_slot(os.getpid() % turns).name):
        yield


def folder() -> Path:
    """Where the files are kept."""
    return paths.cache() / "tarballs"


def _kept(file: Path, made_of: str) -> Tarball | None:
    try:
        known = json.loads(_record(file).read_text())
        tar = Tarball(file, known["sha512"], known["size"])
        return tar if known["made_of"] == made_of and file.stat().st_size == tar.size else None
    except (OSError, ValueError, KeyError, TypeError):  # not there, or half written
        return None


def _made(files: Mapping[str, Path], file: Path, made_of: str) -> Tarball:
    archive.bundle(files, file)
    tar = Tarball(file, archive.sha512(file), file.stat().st_size)
    fresh = _record(file).with_suffix(".new")
    fresh.write_text(json.dumps({**asdict(tar), "path": file.name, "made_of": made_of}))
    fresh.replace(_record(file))
    return tar


def _record(file: Path) -> Path:
    return file.with_name(file.name + ".json")


def _slot(number: int) -> Path:
    folder().mkdir(parents=True, exist_ok=True)
    return folder() / f".turn-{number}"


@contextmanager
def _lock(name: str) -> Iterator[None]:
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
