"""A loopback network for each worker, so that clusters of several workers have the same ports and never meet.

`kcluster up` takes ports that are free, and remembers them: those of a cluster that is down another worker could take.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import TypeVar

NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of clone(2)."""
OURS = "/proc/thread-self/ns/net"

Made = TypeVar("Made")


def allowed() -> bool:
    """Whether this user may make networks; without them, clusters of all workers stay with one worker."""
    return os.geteuid() == 0


def apart() -> bool:
    """Whether workers have networks of their own: where there are several, and with the right to make one."""
    return "PYTEST_XDIST_WORKER" in os.environ and allowed()


@contextmanager
def own_loopback() -> Iterator[None]:
    """Be on this worker's own loopback network for a block, and start programs there; nothing leaves it."""
    if not apart():
        yield
        return
    before = os.open(OURS, os.O_RDONLY)
    try:
        _enter(_network())
        yield
    finally:
        _enter(before)
        os.close(before)


@contextmanager
def on_loopback(made: AbstractContextManager[Made]) -> Iterator[Made]:
    """Make something on this worker's own loopback network, and take it away there, wherever the worker is by then."""
    with ExitStack() as stack:
        with own_loopback():
            thing = stack.enter_context(made)
        try:
            yield thing
        finally:
            with own_loopback():
                stack.close()


@cache
def _network() -> int:
    """The worker's network, made at the first use; it goes with the process."""
    before = os.open(OURS, os.O_RDONLY)
    _call("unshare", NEW_NETWORK)
    made = os.open(OURS, os.O_RDONLY)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    _enter(before)
    os.close(before)
    return made


def _enter(network: int) -> None:
    _call("setns", network, NEW_NETWORK)


def _call(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
