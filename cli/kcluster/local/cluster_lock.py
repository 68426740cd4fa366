"""The lock of a local cluster: one run at a time, and the second is told who the first is."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kcluster.errors import ApplyError, LockedError

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


@contextmanager
def locked(root: Path, name: str) -> Iterator[None]:
    """Hold the lock of a cluster's folder, or say which process holds it; a disk that refuses is told as well."""
    with _writable(root):
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


@contextmanager
def _writable(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno not in _DISK:
            raise
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise ApplyError(
            f"{problem.filename or root} cannot be written: {problem.strerror}",
            resolution="make room (see `df -h`)" if full else "set KCLUSTER_HOME to a folder you may write to",
        ) from problem


def _taken(file: Path, name: str) -> LockedError:
    owner = file.read_text().strip() or "unknown"
    return LockedError(
        f"another kcluster works on the local cluster {name} (pid {owner})",
        resolution="wait for it to end, then run the command again",
    )
