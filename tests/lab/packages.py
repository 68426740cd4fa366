"""Packages for hosts that have no way out: a folder that apt reads like an archive of Debian."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.lab import disk
from tests.lab.image import Recipe, download, make_once
from tests.lab.machine import folder, run


def repository(recipe: Recipe, *names: str) -> Path:
    """The packages of these names with everything they need on Debian's smallest set; fetched once and kept."""
    digest = hashlib.sha256(repr((recipe.suite, sorted(names))).encode()).hexdigest()[:10]
    place = folder() / "packages" / f"{recipe.suite}-{digest}"
    make_once(place, lambda beside: _make(recipe, names, beside))
    return place


def _make(recipe: Recipe, names: tuple[str, ...], beside: Path) -> None:
    fetched = beside / "fetched"
    for package in download(recipe.suite, names, fetched):
        package.rename(beside / package.name.replace("%3a", ":"))
    disk.remove(fetched)
    entries = [_entry(package) for package in sorted(beside.glob("*.deb"))]
    (beside / "Packages").write_text("\n".join(entries))


def _entry(package: Path) -> str:
    """What an index says about a package: its own words, and how it is found and proven."""
    proof = hashlib.sha256(package.read_bytes()).hexdigest()
    control = run("dpkg-deb", "--field", package).strip()
    return f"{control}\nFilename: ./{package.name}\nSize: {package.stat().st_size}\nSHA256: {proof}\n"
