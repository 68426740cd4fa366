"""Where a release comes from: Maven, a URL or a file; each brings a verified release into an empty folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kcluster.clients import downloads, maven
from kcluster.errors import RefusedError, UnreachableError
from kcluster.model.release import Release
from kcluster.releases import archive, cache, launch_scripts, manifest
from kcluster.results import Meter, Progress, counted

APACHE = "https://archive.apache.org/dist/kafka"
"""The base of the source `url`: every version Apache ever released."""

_ENDINGS = (".tgz", ".tar.gz")
_GIVE_HASH = "for an archive of your own, give its hash: kafka_release_sha512, or `release fetch --sha512`"


@dataclass(frozen=True)
class FetchRequest:
    """A release to fetch, its target directory, and the progress callbacks."""

    release: Release
    into: Path
    progress: Progress
    meter: Meter


def bring(source: str, job: FetchRequest) -> str:
    """Bring a release from one source; UnreachableError when the source does not have it.

    Returns the SHA-512 of its archive; nothing for Maven, each of whose jars has its own.
    """
    if source == "maven":
        return _from_maven(job)
    if source == "url":
        return _from_url(archive_url(APACHE, job.release), job)
    if source.startswith(("http://", "https://")):
        return _from_url(archive_url(source, job.release), job)
    return _from_file(archive_file(source, job.release), job)


def archive_url(source: str, release: Release) -> str:
    """The archive a URL means: itself, or the one in Apache's layout below it."""
    if urlsplit(source).path.endswith(_ENDINGS):
        return source
    return f"{source.rstrip('/')}/{release.version}/{release.directory}.tgz"


def archive_file(source: str, release: Release) -> Path:
    """The archive a path means: itself, or the one of the release in that folder; `file` is the current folder."""
    path = Path("." if source == "file" else source).expanduser()
    if path.is_dir():
        return next(
            filter(Path.is_file, (path / (release.directory + end) for end in _ENDINGS)),
            path / f"{release.directory}.tgz",
        )
    return path


def _from_maven(job: FetchRequest) -> str:
    jars = manifest.jars(job.release)
    if not jars:
        raise UnreachableError(
            f"no list of jars for {job.release.directory}; there is one for {', '.join(manifest.versions())}"
        )
    job.progress(f"copying {counted(len(jars), 'jar')} of {job.release.directory} from Maven")
    libs, project = job.into / "libs", job.into / "pom.xml"
    maven.copy([jar.coordinates for jar in jars], project, libs, job.meter)
    project.unlink()
    for jar in jars:
        _check_jar(jar, libs)
    launch_scripts.write(job.release, job.into)
    return ""


def _check_jar(jar: manifest.ReleaseJar, libs: Path) -> None:
    if not (libs / jar.file).is_file():
        raise UnreachableError(f"Maven did not copy {jar.coordinates}")
    observed = cache.sha256(libs / jar.file)
    if observed != jar.sha256:
        raise RefusedError(
            f"the hash of {jar.file} from Maven is wrong",
            details=f"expected SHA-256 {jar.sha256}\nobserved SHA-256 {observed}",
            resolution=f"remove {jar.coordinates} from ~/.m2/repository, or check the Maven mirror",
        )


def _from_url(url: str, job: FetchRequest) -> str:
    expected = _expected(url, job.release, downloads.text(f"{url}.sha512"))
    if not expected:
        raise UnreachableError(f"there is no {url}.sha512 to verify the archive with", resolution=_GIVE_HASH)
    part = _part(url)
    resumed = part.exists()
    job.progress(f"{'resuming' if resumed else 'downloading'} {url}")
    downloads.download(url, part, job.meter)
    if resumed and archive.sha512(part) != expected:
        job.progress(f"{part.name} does not match its hash after resuming: downloading it again")
        part.unlink()
        downloads.download(url, part, job.meter)
    try:
        _check_archive(part, url, expected, job.release)
        archive.unpack(part, job.into, job.release.directory)
    except RefusedError:
        part.unlink()  # nothing of it is worth keeping; after Ctrl-C or on a full disk all of it is
        raise
    part.unlink()
    return expected


def _expected(name: str, release: Release, published: str | None) -> str:
    """The hash an archive must have: the one given, else the packaged, else the published one; empty without any.

    Who can put another archive there can put its hash there too, so one that differs from the known hash is an error.
    """
    known = release.sha512 or (manifest.pins().get(release.version, "") if release.scala == "2.13" else "")
    beside = archive.published(published or "")
    if known and beside and known != beside:
        origin = "given" if release.sha512 else "packaged with kcluster"
        raise RefusedError(
            f"{name}.sha512 names another hash than the one {origin} for {release.title}",
            details=f"{known}  {origin}\n{beside}  published",
            resolution=f"use Apache's archive; {_GIVE_HASH}",
        )
    if not known and not beside and published is not None:
        raise RefusedError(f"{name}.sha512 has no SHA-512", resolution="publish the output of sha512sum there")
    return known or beside


def _part(url: str) -> Path:
    """Where a download waits until it is whole: the same place in the next run."""
    folder = cache.root() / ".downloads"
    folder.mkdir(parents=True, exist_ok=True)
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return folder / f"{Path(urlsplit(url).path).name}.{mark}.part"


def _from_file(path: Path, job: FetchRequest) -> str:
    if not path.is_file():
        raise UnreachableError(f"there is no file {path}")
    job.progress(f"unpacking {path}")
    beside = path.with_name(path.name + ".sha512")
    expected = _expected(str(path), job.release, beside.read_text(errors="replace") if beside.is_file() else None)
    if not expected:
        raise RefusedError(
            f"nothing to verify {path} with: there is no {beside.name} beside it",
            resolution=f"put the published hash there, or trust it: sha512sum {path} >{beside}",
        )
    _check_archive(path, str(path), expected, job.release)
    archive.unpack(path, job.into, job.release.directory)
    return expected


def _check_archive(path: Path, name: str, expected: str, release: Release) -> None:
    observed = archive.sha512(path)
    if observed != expected:
        raise RefusedError(
            f"the hash of {name} is wrong",
            details=f"expected SHA-512 {expected}\nobserved SHA-512 {observed}",
            resolution=f"another source: kcluster release fetch {release.version} --source maven|url|URL|FILE",
        )
