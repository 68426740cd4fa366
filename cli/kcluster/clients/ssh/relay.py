"""Connections to ports of hosts that let only SSH through: a small script there carries the bytes.

It needs Python and an account there, as everything that kcluster does on hosts; sshd may forbid to forward ports.
"""

from __future__ import annotations

import socket
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from kcluster.clients import host_scripts
from kcluster.errors import KclusterError

if TYPE_CHECKING:
    from kcluster.clients.ssh.connections import Connections
    from kcluster.clients.ssh.remote_command import RemoteCommand

_CONNECTED, _REFUSED = "kcluster-connected", "kcluster-refused "
_AT_ONCE = 1 << 16
_LIFE = 5.0
"""Seconds a connection lives beyond the time to make it: it carries one question and its answer."""
_PER_HOST = 5
"""How many there are on a host at the same time: sshd takes 10 sessions of a connection, and others need some."""


class Relays:
    """Makes connections to ports of hosts as their own machine would."""

    def __init__(self, hosts: Connections) -> None:
        self._hosts = hosts
        self._slots: defaultdict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(_PER_HOST))

    def connect(self, name: str, addresses: Sequence[str], port: int, within: float) -> socket.socket:
        """A connection from a host to the first of its own addresses that takes it.

        OSError without one, UnreachableError when the host does not answer over SSH.
        """
        slot = self._slots[name]
        if not slot.acquire(timeout=within):
            raise TimeoutError(f"{_PER_HOST} connections through {name} are open already")
        with ExitStack() as ending:
            ending.callback(slot.release)
            running = self._hosts.start(name, host_scripts.LINE_COMMAND, within=within + _LIFE)
            ending.enter_context(running)
            question = {"addresses": list(addresses), "port": port, "within": within}
            running.write(host_scripts.line("relay", {**question, "connected": _CONNECTED, "refused": _REFUSED}))
            said = _connected(running)
            ours, theirs = socket.socketpair()
            threading.Thread(target=_carry, args=(theirs, running, said, ending.pop_all()), daemon=True).start()
            return ours


def _connected(running: RemoteCommand) -> Iterator[bytes]:
    """What comes after the line that says so; a login may greet with lines before."""
    pieces, said = running.output(), b""
    for piece in pieces:
        said += piece
        _, mark, rest = said.partition(f"{_CONNECTED}\n".encode())
        if mark:
            return _followed(rest, pieces)
    why = said.decode(errors="replace").rpartition(_REFUSED)[2].strip()
    raise ConnectionRefusedError(f"{why or 'no answer'} on {running.name} itself")


def _followed(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from pieces


def _carry(theirs: socket.socket, running: RemoteCommand, said: Iterator[bytes], ending: ExitStack) -> None:
    up = threading.Thread(target=_tell, args=(theirs, running), daemon=True)
    up.start()
    with theirs, suppress(KclusterError), ending:
        with suppress(KclusterError, OSError):
            for piece in said:
                theirs.sendall(piece)
        with suppress(OSError):
            theirs.shutdown(socket.SHUT_RDWR)
        up.join()


def _tell(theirs: socket.socket, running: RemoteCommand) -> None:
    with suppress(KclusterError, OSError):
        while data := theirs.recv(_AT_ONCE):
            running.write(data)
    with suppress(KclusterError, OSError):
        running.finish()
