"""`down`: stop a local cluster, brokers first; deletes its data only when asked."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kcluster import local
from kcluster.local import cluster_lock, shutdown
from kcluster.local.cluster_record import ClusterRecord
from kcluster.results import Block, Cell, Progress, Result, Tone, counted


@dataclass(frozen=True)
class Down(Result):
    """What was stopped, and whether the data was deleted."""

    name: str
    stopped: tuple[str, ...]
    deleted: bool
    directory: str
    seconds: float

    def view(self) -> Iterable[Block]:
        """What was stopped and deleted, and the next command."""
        if self.stopped:
            yield f"stopped {', '.join(self.stopped)} in {self.seconds:.1f} s"
        else:
            yield f"{self.name} was not running"
        if self.deleted:
            yield Cell(f"deleted {self.name} and all its data in {self.directory}", Tone.WARN)
        else:
            yield f"data kept in {self.directory}    start again: kcluster up -n {self.name}"


def directory(name: str) -> Path:
    """The directory of a local cluster; UsageError when there is no such cluster."""
    return local.record(name).root


def _delete(root: Path) -> None:
    """Delete the record last, so that `down` can continue after an interruption."""
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
    shutil.rmtree(root)


def down(name: str, progress: Progress, *, delete_data: bool = False) -> Down:
    """Stop the running nodes of a local cluster, then delete its data if asked; waits for each to end."""
    begin = time.monotonic()
    root = directory(name)
    with cluster_lock.locked(root, name):
        record = local.record(name)
        running = tuple(record.living())
        if running:
            progress(f"stopping {counted(len(running), 'node')} of {name}")
        shutdown.stop(record, record.started, progress, ClusterRecord.save)
        if delete_data:
            _delete(root)
    return Down(name, running, delete_data, str(root), round(time.monotonic() - begin, 2))
