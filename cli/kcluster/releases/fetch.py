"""Fetching a release: every source in the configured order, until one brings a verified one."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kcluster.errors import ApplyError, KclusterError, RefusedError, UnreachableError, UsageError
from kcluster.model.release import Release
from kcluster.model.suggestions import nearest
from kcluster.releases import cache, launch_scripts, manifest
from kcluster.results import Meter, Progress


def no_meter(_done: int, _total: int | None, _unit: str) -> None:
    """A meter that shows nothing."""


def fetch(release: Release, progress: Progress, meter: Meter = no_meter, *, thorough: bool = False) -> Path:
    """The directory of a release, fetched where it is missing or damaged; `thorough` verifies every cached file.

    Blocks while another run fetches the same release. UnreachableError when no source has it.
    """
    check_version(release.version)
    if "cache" in release.sources and not thorough and (home := cache.installed(release)) and _current(release):
        return home
    with _disk(release), cache.lock(release, progress):
        if "cache" in release.sources and _whole(release, progress, thorough=thorough):
            return cache.directory(release) if _current(release) else _renewed(release, progress)
        return _from_sources(release, progress, meter)


def check_version(version: str) -> None:
    """Raise UsageError for what is not a Kafka version."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(-rc\d+)?", version):
        raise UsageError(f"{version!r} is not a Kafka version", resolution=_nearest(version))


def known() -> tuple[str, ...]:
    """The known versions, the oldest first."""
    return tuple(sorted({*manifest.versions(), *manifest.pins()}, key=lambda version: Release(version).numbers))


def _whole(release: Release, progress: Progress, *, thorough: bool) -> bool:
    """Whether the cache has an undamaged copy; reports damage, as the release is then fetched again."""
    if not cache.directory(release).exists():
        return False
    if not thorough and cache.installed(release):
        return True
    found = cache.differences(release)
    if found:
        progress(f"the cached {release.directory} is damaged ({found[0].file}: {found[0].problem}): fetching it again")
    return not found


def _current(release: Release) -> bool:
    """Whether a release assembled from Maven has the launch scripts of this kcluster."""
    marker = cache.read_marker(cache.directory(release))
    if not marker or marker.source != "maven":
        return True
    ours = {name: hashlib.sha256(content).hexdigest() for name, content in launch_scripts.files(release)}
    return ours == {name: file.sha256 for name, file in marker.files.items() if not name.startswith("libs/")}


def _renewed(release: Release, progress: Progress) -> Path:
    """Rewrite the launch scripts of a cached release that another kcluster version wrote."""
    progress(f"cached {release.directory} has scripts of another kcluster version: writing them again")
    with cache.staging(release) as staged:
        shutil.copytree(cache.directory(release) / "libs", staged / "libs", copy_function=os.link)
        launch_scripts.write(release, staged)
        cache.mark(staged, "maven")
        return cache.install(staged, release)


def _from_sources(release: Release, progress: Progress, meter: Meter) -> Path:
    failed: list[tuple[str, KclusterError]] = []
    outside = [source for source in release.sources if source != "cache"]
    for position, source in enumerate(outside):
        try:
            return _from(source, release, progress, meter)
        except UnreachableError as problem:
            failed.append((source, problem))
            following = outside[position + 1 : position + 2]
            progress(_source_failure(source, problem) + "".join(f"; trying {name}" for name in following))
    raise _nothing_worked(release, failed)


def _from(source: str, release: Release, progress: Progress, meter: Meter) -> Path:
    from kcluster.releases import sources  # lazily: a cached release needs no HTTP

    with cache.staging(release) as staged:
        sha512 = sources.bring(source, sources.FetchRequest(release, staged, progress, meter))
        cache.mark(staged, source, sha512)
        home = cache.install(staged, release)
    progress(f"{release.directory} is in {home}")
    return home


def _nothing_worked(release: Release, failed: Sequence[tuple[str, KclusterError]]) -> KclusterError:
    details = "\n".join(_source_failure(source, problem) for source, problem in failed)
    if release.version not in known() and all(source in ("maven", "url") for source, _ in failed):
        return UsageError(
            f"Kafka {release.version} is unknown, and no source has it",
            details=details,
            resolution=_nearest(release.version),
        )
    if not failed:
        return RefusedError(
            f"{release.directory} is not in the cache, and no other source is set",
            resolution="add one: maven, url, a URL or a path",
        )
    advice = [problem.resolution for _, problem in failed if problem.resolution]
    return UnreachableError(
        f"{release.directory} could not be fetched from any source",
        details=details,
        resolution=advice[0]
        if advice
        else f"the network, or a file: kcluster release fetch {release.version} --source FILE",
    )


def _source_failure(source: str, problem: KclusterError) -> str:
    """What a source answered; a message about a URL or a file begins with it already."""
    return f"{source}: {problem.message}" if source in ("maven", "url") else problem.message


def _nearest(version: str) -> str:
    near = nearest(version, known(), cutoff=0.0)
    return f"{near[0]} (known: {', '.join(known())})"


@contextmanager
def _disk(release: Release) -> Iterator[None]:
    """Raise ApplyError with a fix when the disk refuses the release; nothing half-installed is left."""
    try:
        yield
    except OSError as problem:
        from kcluster.clients.downloads import NO_SPACE

        where = cache.root()
        if problem.errno in NO_SPACE:
            raise ApplyError(
                f"no space left in {where} for {release.directory}; nothing was installed",
                details=str(problem),
                resolution="free disk space (a fetch needs about 300 MB), or set KCLUSTER_CACHE",
            ) from problem
        raise ApplyError(
            f"cannot write {release.directory} in {where}: {problem.strerror or problem}",
            details=str(problem),
            resolution="check owner and permissions of the directory, or set KCLUSTER_CACHE",
        ) from problem
