"""Carries bytes between its caller and a port of this host, for a control node that reaches nothing but SSH.

`kcluster.clients.ssh.relay` sends it, and speaks to the port with the clients that it has for a direct connection.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from typing import Any, Callable

_AT_ONCE = 1 << 16


def main(question: dict[str, Any]) -> None:
    """Connect to the first address that takes it, say so or why not in one line, and carry until either end closes."""
    try:
        connection = connected(question["addresses"], question["port"], question["within"])
    except OSError as problem:
        say(f"{question['refused']}{problem.strerror or problem}\n".encode())
        return
    say(f"{question['connected']}\n".encode())
    with connection, contextlib.suppress(OSError):
        carry(connection)


def connected(addresses: list[str], port: int, within: float) -> socket.socket:
    """A connection to the port at the first of these addresses that takes it."""
    for address in addresses[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), within)
    return socket.create_connection((addresses[-1], port), within)


def carry(connection: socket.socket) -> None:
    """Pass on what arrives at either end, until one has nothing more to say."""
    connection.settimeout(None)
    ends: dict[int, Callable[[bytes], None]] = {0: connection.sendall, connection.fileno(): say}
    while True:
        for end in select.select(list(ends), [], [])[0]:
            data = os.read(end, _AT_ONCE)
            if not data:
                return
            ends[end](data)


def say(data: bytes) -> None:
    """Write all of it to the caller."""
    while data:
        data = data[os.write(1, data) :]
