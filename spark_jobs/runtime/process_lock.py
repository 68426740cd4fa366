"""One process at a time in a folder: a lock that the kernel takes back when its process ends, however that ends.

It is held until then and never given back before: what a process does in its other threads may go on after its job has
told its end, as with a driver whose JVM was killed while dead letters were on their way.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from spark_jobs.runtime.error_causes import RefusedJobError

CHECKPOINT = "kcluster.lock"
"""The file of the lock in a checkpoint; that in a job's folder has the job's name: several may share a folder."""

WITHIN = 5.0
"""Seconds for a process that was killed to be gone."""

PAUSE = 0.1


def lock_folder(folder: Path, name: str) -> None:
    """Be the only process of a job that reports to this folder."""
    taken = f"the job {name} runs already, and reports to {folder.absolute()}"
    _hold(folder / f"{name}.lock", taken, "stop it first")


def lock_checkpoint(checkpoint: str) -> None:
    """Be the only process that works with a checkpoint, where that is a folder of this machine."""
    parts = urlsplit(checkpoint)
    if not checkpoint or parts.scheme not in ("", "file"):
        return
    folder = Path(unquote(parts.path)) if parts.scheme else Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    taken = f"the checkpoint {folder} is in use by a job that runs"
    _hold(folder / CHECKPOINT, taken, "stop that job, or give this one a checkpoint and a sink of its own")


def _hold(file: Path, taken: str, advice: str) -> None:
    """Lock a file until this process ends."""
    deadline = time.monotonic() + WITHIN
    try:
        held = os.open(file, os.O_WRONLY | os.O_CREAT, 0o666)
        while not _locked(held):
            if time.monotonic() > deadline:
                os.close(held)
                raise RefusedJobError(taken, advice)
            time.sleep(PAUSE)
    except OSError as problem:
        raise RefusedJobError(
            f"{file} cannot be locked: {problem.strerror}", "repair it, or choose another folder"
        ) from problem


def _locked(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
