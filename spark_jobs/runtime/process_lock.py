"""One driver at a time for each job directory and checkpoint: file locks that the kernel releases with the process.

A lock is never released earlier: threads of a process may work on after the job has written its end, as in a driver
whose JVM was killed while dead letters were being sent.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from spark_jobs.runtime.error_causes import RefusedJobError

CHECKPOINT = "kcluster.lock"
"""The lock file in a checkpoint; the one in a job directory is NAME.lock, because jobs may share a directory."""

WITHIN = 5.0
"""Seconds to wait for a process that was killed to disappear."""

PAUSE = 0.1


def lock_folder(folder: Path, name: str) -> None:
    """Lock a job directory for a job until this process ends; refused when another process has the lock."""
    message = f"job {name} is already running in {folder.absolute()}"
    _hold(folder / f"{name}.lock", message, "stop that job first")


def lock_checkpoint(checkpoint: str) -> None:
    """Lock a checkpoint until this process ends; refused when another has it. No effect on other file systems."""
    parts = urlsplit(checkpoint)
    if not checkpoint or parts.scheme not in ("", "file"):
        return
    folder = Path(unquote(parts.path)) if parts.scheme else Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    message = f"checkpoint {folder} is in use by a running job"
    _hold(folder / CHECKPOINT, message, "stop that job, or give this one its own checkpoint and sink")


def _hold(file: Path, message: str, advice: str) -> None:
    """Lock a file until this process ends; waits up to WITHIN seconds, then refuses."""
    deadline = time.monotonic() + WITHIN
    try:
        held = os.open(file, os.O_WRONLY | os.O_CREAT, 0o666)
        while not _locked(held):
            if time.monotonic() > deadline:
                os.close(held)
                raise RefusedJobError(message, advice)
            time.sleep(PAUSE)
    except OSError as problem:
        raise RefusedJobError(
            f"{file} cannot be locked: {problem.strerror}", "repair the file, or choose another folder"
        ) from problem


def _locked(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
