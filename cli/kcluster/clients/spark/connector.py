"""The jars that Spark needs beside its own, above all those for Kafka: fetched once, verified, and kept."""

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

SUMS = "sha256.json"


def folder() -> Path:
    """Where the jars are kept."""
    return paths.cache() / "spark" / VERSION


def jars(progress: Progress) -> list[Path]:
    """The jars with which Spark reads Kafka, from the cache, or fetched now."""
    return _bundle(jars_of.KAFKA, progress)


def extra(progress: Progress, asked: Mapping[str, Any]) -> list[Path]:
    """The jars that a job with these settings needs besides: for Avro, Delta, Iceberg."""
    return list(chain.from_iterable(_bundle(each, progress) for each in jars_of.needed(asked)))


def kept(bundle: Bundle) -> list[Path]:
    """The jars in the cache when they are all there and unchanged, else none."""
    either = next((jar for jar in bundle.either if _sound(jar)), None)
    if (bundle.either and either is None) or not all(map(_sound, bundle.fixed)):
        return []
    return [folder() / jar.file for jar in _together(bundle, either)]


def _bundle(bundle: Bundle, progress: Progress) -> list[Path]:
    """Jars that belong together; a file that is not what it should be is fetched again."""
    if found := kept(bundle):
        return found
    progress(f"fetching the jars with which Spark {VERSION} {bundle.purpose}, once")
    either = _fetch(bundle)
    if either is not None:
        progress(f"{either.artifact} is taken in version {either.version}")
    if found := kept(bundle):
        return found
    raise RefusedError(
        f"the jars with which Spark {bundle.purpose} are not what they should be",
        details=f"they are in {folder()}",
        resolution="see what your Maven repository delivers; the versions are pinned by their SHA-256",
    )


def _together(bundle: Bundle, either: SparkJar | None) -> list[SparkJar]:
    return [*bundle.fixed, *([either] if either else [])]


def _sound(jar: SparkJar) -> bool:
    """Whether the jar is there with the hash that is pinned, else with the one it had when it was fetched."""
    try:
        expected = jar.sha256 or _sums().get(jar.file)
        return bool(expected) and _hash(folder() / jar.file) == expected
    except (OSError, ValueError):
        return False


def _sums() -> dict[str, str]:
    """What each jar's hash was when it was fetched."""
    try:
        return dict(json.loads((folder() / SUMS).read_text()))
    except (OSError, ValueError):
        return {}


def _hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _fetch(bundle: Bundle) -> SparkJar | None:
    """Copy the jars out of the Maven repository; which of those that would do was there."""
    folder().mkdir(parents=True, exist_ok=True)
    choices: Sequence[SparkJar | None] = bundle.either or (None,)
    for either in choices:
        try:
            _copy(_together(bundle, either))
        except UnreachableError as problem:
            if either is None or either is choices[-1] or either.artifact not in problem.message:
                raise _explained(bundle, problem) from problem
        else:
            return either
    raise AssertionError("the last choice either arrives or is an error")


def _copy(wanted: Sequence[SparkJar]) -> None:
    """Fetch beside the cache and move into place, so that nobody ever sees half a jar."""
    with TemporaryDirectory(dir=folder(), prefix=".fetch-") as name:
        work = Path(name)
        maven.copy([jar.coordinates for jar in wanted], work / "pom.xml", work / "jars", lambda *_: None)
        sums = _sums() | {jar.file: _hash(work / "jars" / jar.file) for jar in wanted}
        (work / SUMS).write_text(json.dumps(sums, indent=1))
        for jar in wanted:
            (work / "jars" / jar.file).replace(folder() / jar.file)
        (work / SUMS).replace(folder() / SUMS)


def _explained(bundle: Bundle, problem: KclusterError) -> UnreachableError:
    pinned = " and ".join(jar.file for jar in (*bundle.fixed, *bundle.either) if jar.sha256)
    way_out = f"repair Maven's settings, or put {pinned} into {folder()}"
    return UnreachableError(
        f"the jars with which Spark {bundle.purpose} cannot be fetched: {problem.message}",
        resolution=problem.resolution or (f"{way_out}, or {bundle.instead}" if bundle.instead else way_out),
    )
