"""Holds the lock of a cluster on this host for as long as the run on the control node sends a line now and then.

`kcluster.rollout.cluster_lock` sends it.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from typing import Any


def main(question: dict[str, Any]) -> None:
    """Take the lock, or print who holds it; release it at the end of the input, or after too long a silence."""
    try:
        descriptor = opened(question["file"])
    except OSError as problem:
        answer({"trouble": f"{question['file']}: {problem.strerror}"})
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        answer({"owner": lock_owner(descriptor)})
        return
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps(question["owner"]).encode())
    answer({"held": True})
    wait(question["silence"])
    os.ftruncate(descriptor, 0)


def opened(path: str) -> int:
    """The lock's file, which only we may read: who can read it could lock it; a link is not followed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if os.fstat(descriptor).st_uid != os.geteuid():
        raise PermissionError(1, "another account of this host made this file")
    return descriptor


def lock_owner(descriptor: int) -> dict[str, Any]:
    """The run that holds the lock, as far as it is written."""
    try:
        return dict(json.loads(os.pread(descriptor, 65536, 0)))
    except ValueError:
        return {}


def wait(silence: float) -> None:
    """Return at the end of the input; a silence ends the process, and the kernel releases the lock."""
    signal.setitimer(signal.ITIMER_REAL, silence)
    while sys.stdin.readline():
        signal.setitimer(signal.ITIMER_REAL, silence)


def answer(values: dict[str, Any]) -> None:
    """Print one line of JSON."""
    print(json.dumps(values), flush=True)
