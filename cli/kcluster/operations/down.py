"""`down`: end what `up` started on this machine, in order; the data stays unless it is asked to go."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kcluster import local
from kcluster.local import cluster_lock, shutdown
from kcluster.local.cluster_record import ClusterRecord
from kcluster.results import Block, Cell, Progress, Result, Tone


@dataclass(frozen=True)
class Down(Result):
    """What was stopped, and what became of the data."""

    name: str
    stopped: tuple[str, ...]
    deleted: bool
    directory: str
    seconds: float

    def view(self) -> Iterable[Block]:
        """What was done, and what is left."""
        if self.stopped:
            yield f"stopped {', '.join(self.stopped)} in {self.seconds:.1f} s"
        else:
            yield f"{self.name} was not running"
        if self.deleted:
            yield Cell(f"{self.name} and all its data are gone from {self.directory}", Tone.WARN)
        else:
            yield f"its data stays in {self.directory}    start again: kcluster up -n {self.name}"


def directory(name: str) -> Path:
    """Where the cluster's data is, for the question before it is deleted."""
    return local.record(name).root


def _delete(root: Path) -> None:
    """The record goes last: after an interruption `down` still knows what is left."""
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
    shutil.rmtree(root)


def down(name: str, progress: Progress, *, delete_data: bool = False) -> Down:
    """Stop every node of a local cluster that runs."""
    begin = time.monotonic()
    root = directory(name)
    with cluster_lock.locked(root, name):
        record = local.record(name)
        running = tuple(record.living())
        if running:
            progress(f"stopping {len(running)} processes of {name}")
        shutdown.stop(record, record.started, progress, ClusterRecord.save)
        if delete_data:
            _delete(root)
    return Down(name, running, delete_data, str(root), round(time.monotonic() - begin, 2))
