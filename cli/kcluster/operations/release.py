"""`release`: list known releases, fetch one, verify it, bundle it for other machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcluster.errors import ApplyError, ExitCode, RefusedError, UsageError
from kcluster.model.release import Release
from kcluster.releases import cache, manifest
from kcluster.releases import fetch as fetching
from kcluster.releases.cache import Difference
from kcluster.releases.fetch import no_meter
from kcluster.results import Block, Cell, Grid, Meter, Progress, Result, Tone, counted


@dataclass(frozen=True)
class KnownRelease:
    """A Kafka version with its sources and its state in the cache."""

    version: str
    metadata: str
    java: int
    maven: bool
    pinned: bool
    """Whether the hash of Apache's archive is packaged with kcluster."""
    state: str
    """"ready", "damaged", or empty: not in the cache."""
    directory: str
    source: str


@dataclass(frozen=True)
class Listing(Result):
    """Every release that is known or in the cache."""

    releases: Sequence[KnownRelease]

    def view(self) -> Iterable[Block]:
        """A row for each."""
        rows = [
            (one.version, one.metadata, f"{one.java}+", _origins(one), _state(one), one.directory)
            for one in self.releases
        ]
        yield Grid(("VERSION", "METADATA", "JAVA", "FROM", "CACHE", "DIRECTORY"), rows, wide=("DIRECTORY",))


@dataclass(frozen=True)
class Fetched(Result):
    """A release in the cache."""

    version: str
    directory: str
    source: str
    files: int

    def view(self) -> Iterable[Block]:
        """Its directory and its source."""
        yield f"Kafka {self.version} is in {self.directory} ({counted(self.files, 'file')}, from {self.source})"


@dataclass(frozen=True)
class Verified(Result):
    """Whether every file of a release is unchanged since it was installed."""

    version: str
    directory: str
    source: str
    files: int
    differences: Sequence[Difference]

    @property
    def exit_code(self) -> ExitCode:
        """NO as soon as one file differs."""
        return ExitCode.NO if self.differences else ExitCode.DONE

    def data(self) -> Any:
        """The fields and the verdict."""
        differences = [{"file": one.file, "problem": one.problem} for one in self.differences]
        return {**vars(self), "ok": not self.differences, "differences": differences}

    def view(self) -> Iterable[Block]:
        """A row for each difference; the verdict last."""
        yield Grid(("FILE", "PROBLEM"), [(one.file, Cell(one.problem, Tone.BAD)) for one in self.differences])
        if not self.differences:
            yield Cell(f"Kafka {self.version}: all {self.files} files are as installed from {self.source}", Tone.GOOD)
            return
        count = len(self.differences)
        yield Cell(f"Kafka {self.version}: {counted(count, 'file differs', 'files differ')}", Tone.BAD)
        yield f"  try: kcluster release fetch {self.version}"


@dataclass(frozen=True)
class Bundled(Result):
    """An archive of a release, and its hash beside it."""

    version: str
    file: str
    sha512: str
    size: int

    def view(self) -> Iterable[Block]:
        """The files, and the command for the other machine."""
        yield f"wrote {self.file} ({self.size / 1e6:.0f} MB) and {self.file}.sha512"
        # Apache's archive has another hash, and kcluster knows that one.
        given = f" --sha512 {self.sha512}" if self.version in manifest.pins() else ""
        command = f"kcluster release fetch {self.version} --source FILE{given}"
        yield f"copy both to the other machine, and run there: {command}"


def listing() -> Listing:
    """The releases that are known, and those in the cache."""
    cached = {path.name.partition("-")[2] for path in cache.root().glob(f"{Release('').directory}*") if path.is_dir()}
    versions = sorted({*fetching.known(), *cached}, key=lambda version: Release(version).numbers)
    return Listing([_known(Release(version)) for version in versions])


def fetch(
    version: str, sources: Sequence[str], progress: Progress, meter: Meter = no_meter, sha512: str = ""
) -> Fetched:
    """Fetch a release from the given sources, else the default ones; UnreachableError when none has it."""
    release = Release(version, sources=tuple(sources) or Release().sources, sha512=sha512)
    if release.sha512_fault:
        raise UsageError(f"--sha512 {release.sha512_fault}", resolution="give the first word of: sha512sum ARCHIVE")
    if release.unverifiable:
        raise UsageError(
            f"{release.unverifiable[0]}: over http:// the archive and its hash can be changed on the way",
            resolution="give the published SHA-512 of the archive: --sha512 HASH, or use https://",
        )
    home = fetching.fetch(release, progress, meter, thorough=True)
    marker = _marker(release)
    return Fetched(version, str(home), marker.source, len(marker.files))


def verify(version: str) -> Verified:
    """Compare every file of a cached release with its hash; RefusedError when it is not in the cache."""
    fetching.check_version(version)
    release = Release(version)
    home = cache.directory(release)
    if not home.exists():
        raise RefusedError(
            f"Kafka {version} is not in the cache", resolution=f"fetch it: kcluster release fetch {version}"
        )
    marker = cache.read_marker(home) or cache.Marker("?", {})
    return Verified(version, str(home), marker.source, len(marker.files), cache.differences(release))


def bundle(version: str, file: Path, progress: Progress, meter: Meter = no_meter) -> Bundled:
    """Pack a release as an archive with its hash next to it; ApplyError when it cannot be written."""
    from kcluster.releases import archive  # lazily: nothing else here packs

    release = Release(version)
    target = _target(release, file)
    home = fetching.fetch(release, progress, meter, thorough=True)
    progress(f"packing {target}")
    try:
        archive.pack(home, _marker(release).files, target, release.directory)
        sha512 = archive.sha512(target)
        target.with_name(target.name + ".sha512").write_text(f"{sha512}  {target.name}\n")
    except OSError as problem:
        target.with_name(target.name + ".part").unlink(missing_ok=True)
        raise ApplyError(
            f"cannot write {target}: {problem.strerror}",
            resolution="free disk space there, or write to another directory",
        ) from problem
    return Bundled(version, str(target), sha512, target.stat().st_size)


def _target(release: Release, file: Path) -> Path:
    """The file to write: a folder means the archive's usual name in it."""
    target = file / f"{release.directory}.tgz" if file.is_dir() else file
    if not target.parent.is_dir():
        raise UsageError(f"there is no directory {target.parent}", resolution=f"create it: mkdir -p {target.parent}")
    if target.exists():
        raise RefusedError(f"{target} exists already", resolution="remove it, or choose another name")
    return target


def _marker(release: Release) -> cache.Marker:
    marker = cache.read_marker(cache.directory(release))
    assert marker, "a release that was just fetched is marked"
    return marker


def _known(release: Release) -> KnownRelease:
    home = cache.directory(release)
    marker = cache.read_marker(home)
    state = ("ready" if cache.installed(release) else "damaged") if home.exists() else ""
    return KnownRelease(
        version=release.version,
        metadata="ZooKeeper or KRaft" if release.supports_zookeeper else "KRaft",
        java=release.java,
        maven=bool(manifest.jars(release)),
        pinned=release.version in manifest.pins(),
        state=state,
        directory=str(home) if state else "",
        source=marker.source if marker else "",
    )


def _origins(one: KnownRelease) -> str:
    """Where a release can be had; any Apache archive with a published hash, so `url` is always there."""
    return ("maven, " if one.maven else "") + ("url (pinned)" if one.pinned else "url")


def _state(one: KnownRelease) -> Cell:
    text = f"{one.state}, from {one.source}" if one.source else one.state
    return Cell(text, {"ready": Tone.GOOD, "damaged": Tone.BAD}.get(one.state, Tone.PLAIN))
