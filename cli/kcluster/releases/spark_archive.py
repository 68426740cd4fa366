"""The archive of Spark for hosts: files of PySpark's wheel, and the jars of the Kafka connector."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackagePath, distribution
from pathlib import Path

from kcluster.clients.spark import connector, runtime
from kcluster.errors import RefusedError
from kcluster.model.spark_cluster import SparkRelease
from kcluster.releases import tarball as tarballs
from kcluster.releases.tarball import Tarball
from kcluster.results import Progress

_FOLDERS = ("bin/", "sbin/", "jars/", "python/lib/", "licenses/")
"""The folders of the package that daemons and executors need; Python sources are also in python/lib."""


def spark_tarball(release: SparkRelease, progress: Progress) -> Tarball:
    """The archive, built once from the installed PySpark; RefusedError when its files were changed."""
    home = runtime.home()
    jars = connector.kafka_jars(progress)
    files = list(_wheel_files())
    text = "\n".join(f"{name} {file.hash}" for name, file in files) + "\n".join(jar.name for jar in jars)
    content_hash = hashlib.sha256(text.encode()).hexdigest()
    return tarballs.once(release.directory, content_hash, lambda: dict(_verified(home, files, jars)))


def _wheel_files() -> Iterator[tuple[str, PackagePath]]:
    """The files of the package for hosts, with their names there."""
    for file in distribution("pyspark").files or ():
        name = file.as_posix().removeprefix("pyspark/")
        if file.parts[0] == "pyspark" and name.startswith(_FOLDERS) and not name.endswith((".pyc", ".cmd")):
            yield name, file


def _verified(home: Path, files: Sequence[tuple[str, PackagePath]], jars: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Each file on this machine, verified by the checksum in the wheel."""
    for name, file in files:
        if file.hash and _hash(home / name) != file.hash.value:
            raise RefusedError(
                f"{home / name} differs from the file in PySpark's wheel",
                resolution=runtime.install(again=True),
            )
        yield name, home / name
    for jar in jars:
        yield f"jars/{jar.name}", jar


def _hash(path: Path) -> str:
    """The SHA-256 of a file in the encoding of wheels."""
    with path.open("rb") as file:
        return base64.urlsafe_b64encode(hashlib.file_digest(file, "sha256").digest()).decode().rstrip("=")
