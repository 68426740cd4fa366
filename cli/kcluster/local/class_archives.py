"""Class data archives (CDS), which shorten the second start of a JVM. A start never depends on them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kcluster.clients.java import Java
from kcluster.clients.processes import Process, maps
from kcluster.model.node import Kind

# C1 only: a local cluster is started more often than it runs under load.
_LOCAL = "-XX:TieredStopAtLevel=1 -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"


@dataclass(frozen=True)
class Archives:
    """The archives of one release for one Java build, beside the release."""

    folder: Path

    @classmethod
    def of(cls, release_home: Path, java: Java) -> Archives:
        """The archives that fit a release and a Java."""
        return cls(release_home / "cds" / java.build)

    def archive(self, kind: Kind) -> Path:
        """The archive of one kind of node."""
        return self.folder / f"{kind}.jsa"

    def usable(self, kind: Kind, libs: Path) -> bool:
        """Whether there is an archive that is not older than the release's jars."""
        try:
            return self.archive(kind).stat().st_mtime >= libs.stat().st_mtime
        except FileNotFoundError:
            return False

    def making(self, kind: Kind) -> Path:
        """The temporary name of an archive that is being written; `complete` renames it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{kind}.{os.getpid()}.new"

    def drop_if_unused(self, kind: Kind, process: Process) -> None:
        """Remove an archive that the JVM silently rejected, so that the next start writes a new one."""
        if self.archive(kind).is_file() and not maps(process, self.archive(kind)):
            self.archive(kind).unlink(missing_ok=True)

    def using(self, kind: Kind) -> str:
        """JVM options of a node that uses the archive, if it fits."""
        return f"{_LOCAL} -XX:SharedArchiveFile={self.archive(kind)}"


def writing(path: Path) -> str:
    """JVM options of a node that writes an archive when it stops."""
    return f"{_LOCAL} -XX:ArchiveClassesAtExit={path}"


def without() -> str:
    """JVM options of a node that neither uses nor writes an archive."""
    return _LOCAL


def complete(path: Path) -> None:
    """Rename a written archive to its final name; a killed node has written none."""
    if path.is_file():
        path.replace(path.with_name(f"{path.name.partition('.')[0]}.jsa"))
