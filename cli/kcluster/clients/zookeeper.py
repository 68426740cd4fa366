"""The door to ZooKeeper: its four-letter questions."""

from __future__ import annotations

import re
import socket


def ask(host: str, port: int, word: str, *, within: float = 1.0) -> str:
    """The answer to a four-letter word; empty when nobody answers in time."""
    try:
        with socket.create_connection((host, port), within) as door:
            door.settimeout(within)
            door.sendall(word.encode())
            return b"".join(iter(lambda: door.recv(4096), b"")).decode(errors="replace")
    except OSError:
        return ""


def mode(host: str, port: int, *, within: float = 1.0) -> str:
    """What the server is in its ensemble: leader, follower, ...; empty while it does not serve."""
    told = re.search(r"^Mode: (\S+)", ask(host, port, "srvr", within=within), re.M)
    return told[1] if told else ""
