"""The jars with which Spark reads Kafka: exact versions, verified, fetched once and then kept on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from kcluster import paths
from kcluster.clients import maven
from kcluster.clients.spark.runtime import VERSION
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.results import Progress

SUMS = "sha256.json"


@dataclass(frozen=True)
class Jar:
    """A jar of one exact version."""

    group: str
    artifact: str
    version: str
    sha256: str
    """Empty where only the repository can say it."""

    @property
    def coordinates(self) -> str:
        """As Maven spells it."""
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.artifact}-{self.version}.jar"


FIXED = (
    Jar(
        "org.apache.spark",
        "spark-sql-kafka-0-10_2.13",
        VERSION,
        "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
    ),
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.1",
        "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.12.1",
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    ),
)
PROVIDERS = (
    # Not every repository has the one of the same version; the older one was tried under it.
    Jar("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", VERSION, ""),
    Jar(
        "org.apache.spark",
        "spark-token-provider-kafka-0-10_2.13",
        "4.0.0",
        "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
    ),
)
"""The first that the repository has is taken."""


def folder() -> Path:
    """Where the jars are kept."""
    return paths.cache() / "spark" / VERSION


def jars(progress: Progress) -> list[Path]:
    """The jars, from the cache, or fetched now; a file that is not what it should be is fetched again."""
    found = kept()
    if not found:
        progress(f"fetching the jars with which Spark {VERSION} reads Kafka, once")
        provider = _fetch()
        progress(f"{provider.artifact} is taken in version {provider.version}")
        found = kept()
    if not found:
        raise RefusedError(
            "the jars with which Spark reads Kafka are not what they should be",
            details=f"they are in {folder()}",
            resolution="see what your Maven repository delivers; the versions are pinned by their SHA-256",
        )
    return found


def kept() -> list[Path]:
    """The jars in the cache when they are all there and unchanged, else none."""
    provider = next((jar for jar in PROVIDERS if _sound(jar)), None)
    if provider is None or not all(map(_sound, FIXED)):
        return []
    return [folder() / jar.file for jar in (*FIXED, provider)]


def _sound(jar: Jar) -> bool:
    """Whether the jar is there with the hash that is pinned, else with the one it had when it was fetched."""
    try:
        expected = jar.sha256 or json.loads((folder() / SUMS).read_text()).get(jar.file)
        return bool(expected) and _hash(folder() / jar.file) == expected
    except (OSError, ValueError):
        return False


def _hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _fetch() -> Jar:
    """Copy the jars out of the Maven repository; the token provider that it has."""
    folder().mkdir(parents=True, exist_ok=True)
    for provider in PROVIDERS:
        try:
            _copy([*FIXED, provider])
        except UnreachableError as problem:
            if provider is PROVIDERS[-1] or provider.artifact not in problem.message:
                raise _explained(problem) from problem
        else:
            return provider
    raise AssertionError("the last provider either arrives or is an error")


def _copy(wanted: Sequence[Jar]) -> None:
    """Fetch beside the cache and move into place, so that nobody ever sees half a jar."""
    with TemporaryDirectory(dir=folder(), prefix=".fetch-") as name:
        work = Path(name)
        maven.copy([jar.coordinates for jar in wanted], work / "pom.xml", work / "jars", lambda *_: None)
        sums = {jar.file: _hash(work / "jars" / jar.file) for jar in wanted}
        (work / SUMS).write_text(json.dumps(sums, indent=1))
        for jar in wanted:
            (work / "jars" / jar.file).replace(folder() / jar.file)
        (work / SUMS).replace(folder() / SUMS)


def _explained(problem: KclusterError) -> UnreachableError:
    return UnreachableError(
        f"the jars with which Spark reads Kafka cannot be fetched: {problem.message}",
        resolution=problem.resolution or f"repair Maven's settings, or put the jars into {folder()}",
    )
