"""The jars that Spark needs besides its own, first of all Kafka's: downloaded once, verified, and cached."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kcluster import paths
from kcluster.clients import maven
from kcluster.clients.spark import jars as jars_of
from kcluster.clients.spark.jars import Bundle, SparkJar
from kcluster.clients.spark.runtime import VERSION
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.results import Progress

CHECKSUMS = "sha256.json"


def folder() -> Path:
    """The cache of jars."""
    return paths.cache() / "spark" / VERSION


def kafka_jars(progress: Progress) -> list[Path]:
    """The jars with which Spark reads Kafka, from the cache or Maven; UnreachableError when Maven fails."""
    return _bundle(jars_of.KAFKA, progress)


def extra_jars(progress: Progress, settings: Mapping[str, Any]) -> list[Path]:
    """Further jars for the settings of a job: for Avro, Delta and Iceberg; UnreachableError when Maven fails."""
    return list(chain.from_iterable(_bundle(each, progress) for each in jars_of.needed_bundles(settings)))


def cached_jars(bundle: Bundle) -> list[Path]:
    """The jars in the cache; empty when one is missing or has another checksum."""
    either = next((jar for jar in bundle.either if _is_cached(jar)), None)
    if (bundle.either and either is None) or not all(map(_is_cached, bundle.fixed)):
        return []
    return [folder() / jar.file for jar in _all_jars(bundle, either)]


def _bundle(bundle: Bundle, progress: Progress) -> list[Path]:
    """The jars of a bundle; a missing or changed file is downloaded again."""
    if cached := cached_jars(bundle):
        return cached
    progress(f"downloading the jars with which Spark {VERSION} {bundle.purpose} (once)")
    either = _fetch(bundle)
    if either is not None:
        progress(f"using {either.artifact} in version {either.version}")
    if cached := cached_jars(bundle):
        return cached
    raise RefusedError(
        f"the checksums of the jars with which Spark {bundle.purpose} are wrong",
        details=f"cache: {folder()}",
        resolution="check the files of your Maven repository; versions are pinned by SHA-256",
    )


def _all_jars(bundle: Bundle, either: SparkJar | None) -> list[SparkJar]:
    return [*bundle.fixed, *([either] if either else [])]


def _is_cached(jar: SparkJar) -> bool:
    """Whether the jar is in the cache with the pinned checksum, or else the checksum of its download."""
    try:
        expected = jar.sha256 or _checksums().get(jar.file)
        return bool(expected) and _hash(folder() / jar.file) == expected
    except (OSError, ValueError):
        return False


def _checksums() -> dict[str, str]:
    """The checksums of the jars when they were downloaded."""
    try:
        return dict(json.loads((folder() / CHECKSUMS).read_text()))
    except (OSError, ValueError):
        return {}


def _hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _fetch(bundle: Bundle) -> SparkJar | None:
    """Download the jars of a bundle; returns which of the alternatives the repository has."""
    folder().mkdir(parents=True, exist_ok=True)
    choices: Sequence[SparkJar | None] = bundle.either or (None,)
    for either in choices:
        try:
            _download(_all_jars(bundle, either))
        except UnreachableError as problem:
            if either is None or either is choices[-1] or either.artifact not in problem.message:
                raise _unreachable(bundle, problem) from problem
        else:
            return either
    raise AssertionError("the last choice is downloaded or raises")


def _download(jars: Sequence[SparkJar]) -> None:
    """Download to a temporary folder, then move into the cache: readers never see a partial jar."""
    with TemporaryDirectory(dir=folder(), prefix=".fetch-") as name:
        work = Path(name)
        maven.copy([jar.coordinates for jar in jars], work / "pom.xml", work / "jars", lambda *_: None)
        checksums = _checksums() | {jar.file: _hash(work / "jars" / jar.file) for jar in jars}
        (work / CHECKSUMS).write_text(json.dumps(checksums, indent=1))
        for jar in jars:
            (work / "jars" / jar.file).replace(folder() / jar.file)
        (work / CHECKSUMS).replace(folder() / CHECKSUMS)


def _unreachable(bundle: Bundle, problem: KclusterError) -> UnreachableError:
    pinned = " and ".join(jar.file for jar in (*bundle.fixed, *bundle.either) if jar.sha256)
    advice = f"correct Maven's settings, or copy {pinned} to {folder()}"
    return UnreachableError(
        f"the jars with which Spark {bundle.purpose} cannot be downloaded: {problem.message}",
        resolution=problem.resolution or (f"{advice}, or {bundle.instead}" if bundle.instead else advice),
    )
