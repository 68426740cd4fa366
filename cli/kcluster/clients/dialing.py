"""How a client gets its connection: directly, unless whoever asks knows another way."""

from __future__ import annotations

import socket
from collections.abc import Callable

Dial = Callable[[str, int, float], socket.socket]
"""A connection to a host and port, made within seconds; OSError without one."""


def direct(host: str, port: int, within: float) -> socket.socket:
    """A connection of this machine's own."""
    return socket.create_connection((host, port), within)
