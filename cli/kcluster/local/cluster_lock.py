"""The lock of a local cluster: one run at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kcluster import file_lock
from kcluster.errors import LockedError


@contextmanager
def locked(root: Path, name: str) -> Iterator[None]:
    """Lock a cluster's folder; LockedError with the other process's id, ApplyError for a disk that refuses a write."""

    def refused(pid: str) -> LockedError:
        return LockedError(
            f"another kcluster works on the local cluster {name} (pid {pid or 'unknown'})",
            resolution="wait for it to end, then run the command again",
        )

    with file_lock.writable(root), file_lock.locked(root / "lock", str(os.getpid()), refused):
        yield
