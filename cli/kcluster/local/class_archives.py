"""Class data archives: what makes the second start of a JVM fast. A start never depends on them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kcluster.clients.java import Java
from kcluster.clients.processes import Process, maps
from kcluster.model.node import Kind

# Quick compilation only: a local cluster starts far more often than it runs under load.
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
        """A name for an archive that is being made; it gets the real one when it is complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{kind}.{os.getpid()}.new"

    def drop_if_unused(self, kind: Kind, process: Process) -> None:
        """Remove an archive the JVM did not take (a JVM says nothing of it), so that the next start makes a new one."""
        if self.archive(kind).is_file() and not maps(process, self.archive(kind)):
            self.archive(kind).unlink(missing_ok=True)

    def using(self, kind: Kind) -> str:
        """JVM options of a node that uses the archive, or goes on without when it does not fit."""
        return f"{_LOCAL} -XX:SharedArchiveFile={self.archive(kind)}"


def writing(path: Path) -> str:
    """JVM options of a node that writes an archive when it stops."""
    return f"{_LOCAL} -XX:ArchiveClassesAtExit={path}"


def without() -> str:
    """JVM options of a node that neither uses nor writes an archive."""
    return _LOCAL


def complete(path: Path) -> None:
    """Give a written archive its name; a node that was killed has written none."""
    if path.is_file():
        path.replace(path.with_name(f"{path.name.partition('.')[0]}.jsa"))
