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


def silent(_done: int, _total: int | None, _unit: str) -> None:
    """The meter of those who do not watch."""


def fetch(release: Release, progress: Progress, meter: Meter = silent, *, thorough: bool = False) -> Path:
    """The directory of a release, fetched if it is not there or not whole; `thorough` reads every cached file."""
    check_version(release.version)
    if "cache" in release.sources and not thorough and (home := cache.installed(release)) and _current(release):
        return home
    with _disk(release), cache.lock(release, progress):
        if "cache" in release.sources and _whole(release, progress, thorough=thorough):
            return cache.directory(release) if _current(release) else _renewed(release, progress)
        return _from_sources(release, progress, meter)


def check_version(version: str) -> None:
    """Refuse what cannot be a version of Kafka."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(-rc\d+)?", version):
        raise UsageError(f"{version!r} is not a version of Kafka", resolution=_nearest(version))


def known() -> tuple[str, ...]:
    """The versions that are known to exist, the oldest first."""
    return tuple(sorted({*manifest.versions(), *manifest.pins()}, key=lambda version: Release(version).numbers))


def _whole(release: Release, progress: Progress, *, thorough: bool) -> bool:
    """Whether the cache has it; what is wrong with it is told, because it will be fetched again."""
    if not cache.directory(release).exists():
        return False
    if not thorough and cache.installed(release):
        return True
    found = cache.differences(release)
    if found:
        progress(f"the cached {release.directory} is damaged ({found[0].file}: {found[0].problem}): fetching it again")
    return not found


def _current(release: Release) -> bool:
    """Whether a release that was put together from Maven has the scripts that this kcluster writes."""
    marker = cache.read_marker(cache.directory(release))
    if not marker or marker.source != "maven":
        return True
    ours = {name: hashlib.sha256(content).hexdigest() for name, content in launch_scripts.files(release)}
    return ours == {name: file.sha256 for name, file in marker.files.items() if not name.startswith("libs/")}


def _renewed(release: Release, progress: Progress) -> Path:
    """Put a release together again from the jars it has: another kcluster wrote its scripts."""
    progress(f"the scripts of the cached {release.directory} are of another kcluster: writing them again")
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
            progress(_said(source, problem) + "".join(f"; trying {name}" for name in following))
    raise _nothing_worked(release, failed)


def _from(source: str, release: Release, progress: Progress, meter: Meter) -> Path:
    from kcluster.releases import sources  # lazily: whoever has the release does not pay for HTTP

    with cache.staging(release) as staged:
        sources.bring(source, sources.FetchRequest(release, staged, progress, meter))
        cache.mark(staged, source)
        home = cache.install(staged, release)
    progress(f"{release.directory} is in {home}")
    return home


def _nothing_worked(release: Release, failed: Sequence[tuple[str, KclusterError]]) -> KclusterError:
    details = "\n".join(_said(source, problem) for source, problem in failed)
    if release.version not in known() and all(source in ("maven", "url") for source, _ in failed):
        return UsageError(
            f"Kafka {release.version} is not known, and no source has it",
            details=details,
            resolution=_nearest(release.version),
        )
    if not failed:
        return RefusedError(
            f"{release.directory} is not in the cache, and there is no other source",
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


def _said(source: str, problem: KclusterError) -> str:
    """What a source answered; a message about a URL or a file begins with it already."""
    return f"{source}: {problem.message}" if source in ("maven", "url") else problem.message


def _nearest(version: str) -> str:
    near = nearest(version, known(), cutoff=0.0)
    return f"{near[0]} (known: {', '.join(known())})"


@contextmanager
def _disk(release: Release) -> Iterator[None]:
    """Say what it means when the disk does not take the release; nothing half-installed is left."""
    try:
        yield
    except OSError as problem:
        from kcluster.clients.downloads import NO_SPACE

        where = cache.root()
        if problem.errno in NO_SPACE:
            raise ApplyError(
                f"no space left in {where} for {release.directory}; nothing was installed",
                details=str(problem),
                resolution="make room (a release takes about 300 MB while it is fetched), or set KCLUSTER_CACHE",
            ) from problem
        raise ApplyError(
            f"cannot write {release.directory} in {where}: {problem.strerror or problem}",
            details=str(problem),
            resolution="check the folder's owner and rights, or set KCLUSTER_CACHE",
        ) from problem
