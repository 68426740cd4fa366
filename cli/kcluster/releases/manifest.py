"""The jars of the releases that can be assembled from Maven, each at its exact version and with its hash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kcluster.model.release import Release

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class ReleaseJar:
    """One jar of a release's libs/."""

    coordinates: str
    """`group:artifact:version`."""
    sha256: str

    @property
    def file(self) -> str:
        """The name it has in libs/."""
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"


def jars(release: Release) -> tuple[ReleaseJar, ...]:
    """The jars of a release; none when there is no manifest for it. Optional jars are left out."""
    path = _path(release)
    return tuple(_read(path.read_text())) if path.is_file() else ()


def versions() -> tuple[str, ...]:
    """The versions with a manifest, the oldest first."""
    names = (path.name for path in (_HERE / "manifests").glob("*.gav"))
    found = (name.partition("-")[2].removesuffix(".gav") for name in names)
    return tuple(sorted(set(found), key=lambda version: Release(version).numbers))


def pins() -> Mapping[str, str]:
    """The SHA-512 of Apache's archives (Scala 2.13) that are known in advance."""
    found: dict[str, str] = json.loads((_HERE / "pins.json").read_text())
    return found


def _path(release: Release) -> Path:
    return _HERE / "manifests" / f"{release.directory}.gav"


def _read(text: str) -> Iterator[ReleaseJar]:
    for line in text.splitlines():
        if line.startswith("# optional"):
            return
        if line and not line.startswith("#"):
            coordinates, sha256 = line.split()
            yield ReleaseJar(coordinates, sha256)
