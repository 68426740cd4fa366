"""The local cache of releases: a directory for each, installed atomically, with a marker that lists its files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kcluster import paths
from kcluster.model.release import Release
from kcluster.releases import manifest
from kcluster.results import Progress

MARKER = ".complete.json"
_LAYOUT = ("bin", "config", "libs")


@dataclass(frozen=True)
class CachedFile:
    """What a file of a release must be."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Marker:
    """The source and the files of a release; written last, so a release with a marker is complete."""

    source: str
    files: Mapping[str, CachedFile]
    sha512: str = ""
    """Of the archive it came from; empty for Maven."""


@dataclass(frozen=True)
class Difference:
    """A file of a release that is not as it was installed."""

    file: str
    problem: str


def directory(release: Release) -> Path:
    """Where a release is or would be."""
    return root() / release.directory


def root() -> Path:
    """The folder of all releases."""
    return paths.cache() / "releases"


def installed(release: Release) -> Path | None:
    """The directory of a complete release, by the sizes of its files; None when it is missing or damaged."""
    home = directory(release)
    marker = read_marker(home)
    return home if marker and not any(_damage(home, marker, release)) else None


def read_marker(home: Path) -> Marker | None:
    """The marker of a release; None when there is none or it cannot be read."""
    try:
        data = json.loads((home / MARKER).read_text())
        files = {name: CachedFile(int(size), str(sha256)) for name, (size, sha256) in data["files"].items()}
        return Marker(str(data["source"]), files, str(data.get("sha512", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def differences(release: Release) -> list[Difference]:
    """Every wrong, missing or extra file of a release, by its hash."""
    home = directory(release)
    marker = read_marker(home)
    if marker is None:
        return [Difference(MARKER, "missing or unreadable: it was not installed completely")]
    found = dict(_damage(home, marker, release))
    for name, expected in _expected(release, marker).items():
        if name not in found and (observed := sha256(home / name)) != expected:
            found[name] = f"wrong: expected SHA-256 {expected}, observed {observed}"
    present = (name for part in _LAYOUT for name in _files(home, part))
    found |= {name: "extra: not part of the release" for name in present if name not in marker.files}
    return [Difference(name, found[name]) for name in sorted(found)]


def mark(home: Path, source: str, sha512: str = "") -> None:
    """Write the marker of a complete staged release, with size and hash of its files."""
    files = {name: (path.stat().st_size, sha256(path)) for name in _files(home) if (path := home / name)}
    data = {"source": source, "sha512": sha512, "files": files}
    (home / MARKER).write_text(json.dumps(data, indent=1))


def install(staged: Path, release: Release) -> Path:
    """Move a staged release into place and return its directory; replaces a damaged one."""
    home = directory(release)
    aside = staged.with_name(staged.name + ".old")
    shutil.rmtree(aside, ignore_errors=True)
    if home.exists():
        home.rename(aside)
    staged.rename(home)
    shutil.rmtree(aside, ignore_errors=True)
    return home


@contextmanager
def staging(release: Release) -> Iterator[Path]:
    """An empty directory next to the releases, removed at the end of the block."""
    staged = root() / f".staging-{release.directory}"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


@contextmanager
def lock(release: Release, progress: Progress) -> Iterator[None]:
    """Hold the lock of a release; blocks while another run has it. The lock ends with its process."""
    root().mkdir(parents=True, exist_ok=True)
    with (root() / f".{release.directory}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another run is fetching {release.directory}: waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damage(home: Path, marker: Marker, release: Release) -> Iterator[tuple[str, str]]:
    """What is wrong with a release without reading its files: another archive than the one asked for, wrong sizes."""
    if release.sha512 and marker.source != "maven" and marker.sha512 != release.sha512:
        yield MARKER, f"expected an archive with SHA-512 {release.sha512}, observed {marker.sha512 or 'none noted'}"
    for name, file in marker.files.items():
        try:
            size = (home / name).stat().st_size
        except OSError:
            yield name, "missing"
            continue
        if size != file.size:
            yield name, f"wrong: expected {file.size} bytes, observed {size}"


def _expected(release: Release, marker: Marker) -> dict[str, str]:
    """The hash of every file; of jars from Maven the packaged one, whatever the marker says."""
    expected = {name: file.sha256 for name, file in marker.files.items()}
    if marker.source == "maven":
        expected |= {f"libs/{jar.file}": jar.sha256 for jar in manifest.jars(release)}
    return expected


def _files(home: Path, part: str = "") -> list[str]:
    found = (path for path in (home / part).rglob("*") if path.is_file())
    return sorted(name for path in found if (name := str(path.relative_to(home))) != MARKER)
