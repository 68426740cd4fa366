"""The lock of a local cluster: one run at a time; the error of a second run names the process of the first."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kcluster.errors import LockedError
from kcluster.journal import writable


@contextmanager
def locked(root: Path, name: str) -> Iterator[None]:
    """Hold the lock of a cluster's folder; raises LockedError with the pid that has it, ApplyError for a full disk."""
    with writable(root, unchanged=""):
        root.mkdir(parents=True, exist_ok=True)
        with open(root / "lock", "a+") as file:
            try:
                # The kernel gives it back when the process ends, however it ends.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as problem:
                raise _taken(root / "lock", name) from problem
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield


def _taken(file: Path, name: str) -> LockedError:
    owner = file.read_text().strip() or "unknown"
    return LockedError(
        f"another kcluster works on the local cluster {name} (pid {owner})",
        resolution="wait for it to end, then run the command again",
    )
