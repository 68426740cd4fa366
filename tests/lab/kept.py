"""Disks that are kept: hosts on which something was installed once are there again in seconds, as after a boot."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.lab import disk, faults
from tests.lab.host import Host
from tests.lab.image import BELOW, KEY, Image, make_once
from tests.lab.lab import Lab, fresh_name, own_lab
from tests.lab.machine import folder, locked

NEWEST = 8
"""So many sets of disks stay; one takes about half a gigabyte."""


def kept(key: str, size: int, image: Image, install: Callable[[Lab], None]) -> list[Image]:
    """The disk of each host of a lab on which `install` was called; made once for each key (see `digest`).

    The hosts are switched off in order afterwards. A lab made of these disks has the same names, addresses and keys.
    """
    place = folder() / "kept" / key
    make_once(place, lambda beside: _make(size, image, install, beside))
    with locked(place.parent / ".lock"):
        os.utime(place)
        _remove_old(place.parent)
    return [Image(place / f"h{number}") for number in range(1, size + 1)]


def digest(project: Path, inputs: Iterable[str], *facts: str) -> str:
    """What tells a set of disks from another: the files that go in, by name and content, and other facts."""
    sum_ = hashlib.sha256(repr(facts).encode())
    for name in inputs:
        for file in _files(project / name):
            sum_.update(f"{file.relative_to(project)} {file.stat().st_size}\n".encode())
            sum_.update(file.read_bytes())
    return sum_.hexdigest()[:16]


def _files(path: Path) -> Iterator[Path]:
    """A file itself, or those in a folder but for tests and what is made again."""
    if path.is_file():
        yield path
    for file in sorted(path.rglob("*")):
        if file.is_file() and not {"__pycache__", "molecule"} & {*file.parts} and not file.name.startswith("test_"):
            yield file


def _make(size: int, image: Image, install: Callable[[Lab], None], beside: Path) -> None:
    with own_lab(fresh_name(), size, image) as lab:
        install(lab)
        for host in lab.hosts:
            faults.shutdown(host)
        for host in lab.hosts:
            _keep(host, beside / host.name)


def _keep(host: Host, place: Path) -> None:
    """Take the layer of a host that is off."""
    place.mkdir()
    (host.folder / "upper").rename(place / "root")
    (place / BELOW).symlink_to(host.image.folder)
    (place / KEY).symlink_to(host.image.key)


def _remove_old(place: Path) -> None:
    """Remove all but the newest, and none that a host has mounted now."""
    sets = sorted(place.glob("[!.]*"), key=lambda each: each.stat().st_mtime)
    for old in sets[:-NEWEST]:
        if f"{old}/" not in Path("/proc/mounts").read_text():
            disk.remove(old)
