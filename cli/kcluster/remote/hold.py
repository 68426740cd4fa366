"""Holds the lock of a cluster on this host for as long as somebody elsewhere says a line now and then.

Run there by Python 3.8 or newer, with nothing else; `kcluster.rollout.cluster_lock` sends it, `hold({...})` behind it.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from typing import Any


def hold(asked: dict[str, Any]) -> None:
    """Take the lock, or say who has it; let go at the end of the input, or when nothing is heard for too long."""
    try:
        descriptor = opened(asked["file"])
    except OSError as problem:
        say({"trouble": f"{asked['file']}: {problem.strerror}"})
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say({"owner": owner(descriptor)})
        return
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps(asked["owner"]).encode())
    say({"held": True})
    listen(asked["silence"])
    os.ftruncate(descriptor, 0)


def opened(path: str) -> int:
    """The lock's file, which nobody but us may read: whoever reads it could lock it; a link is not followed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if os.fstat(descriptor).st_uid != os.geteuid():
        raise PermissionError(1, "another account of this host made this file")
    return descriptor


def owner(descriptor: int) -> dict[str, Any]:
    """Who holds the lock, as far as it is written."""
    try:
        return dict(json.loads(os.pread(descriptor, 65536, 0)))
    except ValueError:
        return {}


def listen(silence: float) -> None:
    """Come back at the end of the input; a silence ends the process, and the kernel takes the lock back."""
    signal.setitimer(signal.ITIMER_REAL, silence)
    while sys.stdin.readline():
        signal.setitimer(signal.ITIMER_REAL, silence)


def say(answer: dict[str, Any]) -> None:
    """One line of JSON."""
    print(json.dumps(answer), flush=True)
