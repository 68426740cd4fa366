"""Exclusive locks on files that name their holder; the kernel releases them when the process ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from kcluster.errors import ApplyError, KclusterError

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


@contextmanager
def locked(
    file: Path, holder: str, refused: Callable[[str], KclusterError], *, consequence: str = ""
) -> Iterator[None]:
    """Lock a file and write `holder` into it; never blocks.

    Raises `refused(text)` when another process has the lock, with the text it wrote, and ApplyError when the disk
    refuses the file; `consequence` ends that message.
    """
    with _opened(file, consequence) as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            opened.seek(0)
            raise refused(opened.read().strip()) from problem
        with writable(file, consequence):
            opened.truncate(0)
            opened.write(holder)
            opened.flush()
        try:
            yield
        finally:
            opened.truncate(0)


def _opened(file: Path, consequence: str) -> TextIO:
    with writable(file.parent, consequence):
        file.parent.mkdir(parents=True, exist_ok=True)
        return open(file, "a+")


def is_locked(descriptor: int) -> bool:
    """Whether another process has locked the file of a descriptor; never blocks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


@contextmanager
def writable(path: Path, consequence: str = "") -> Iterator[None]:
    """Turn a disk that refuses a write inside the block into an ApplyError with the remedy."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in _DISK:
            raise
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise ApplyError(
            f"{problem.filename or path} cannot be written: {problem.strerror}{consequence}",
            resolution="make room (see `df -h`)" if full else "set KCLUSTER_HOME to a folder you may write to",
        ) from problem
