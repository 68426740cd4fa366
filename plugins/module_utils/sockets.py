"""The TCP sockets of a host: where it listens, and which process does."""

from __future__ import annotations

import os
import socket
import struct

from ansible_collections.kcluster.kafka.plugins.module_utils.files import read

_LISTENING = "0A"


def listening(process: int | str = "self") -> dict[str, str]:
    """Where the network of a process is listened on: "address:port" by the name of the socket in /proc/PID/fd."""
    found = {}
    for table in ("tcp", "tcp6"):
        for line in (read(f"/proc/{process}/net/{table}") or "").splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING:
                found[f"socket:[{fields[9]}]"] = spelled(fields[1])
    return found


def listening_of(process: int) -> list[str]:
    """Where a process itself listens: "10.0.0.1:9092", "[::]:9092" for every address; nothing when it is gone."""
    held, found = open_files(process), listening(process)
    return sorted({address for name, address in found.items() if name in held})


def open_files(process: int | str) -> set[str]:
    """What a process has open, sockets by their names; nothing when it is gone or not ours to see."""
    folder = f"/proc/{process}/fd"
    found: set[str] = set()
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        try:
            found.add(os.readlink(os.path.join(folder, name)))
        except OSError:
            continue  # closed since the folder was read
    return found


def spelled(entry: str) -> str:
    """An address as the kernel's tables have it ("0100007F:2384"), as people write it: "127.0.0.1:9092"."""
    digits, _, port = entry.partition(":")
    # The tables show each 32 bits of an address as a number of the machine's own byte order.
    packed = b"".join(struct.pack("=I", int(digits[at : at + 8], 16)) for at in range(0, len(digits), 8))
    if packed[:12] == b"\0" * 10 + b"\xff\xff":
        packed = packed[12:]  # IPv4 on a socket of IPv6, as Java opens them
    address = socket.inet_ntop(socket.AF_INET6 if len(packed) > 4 else socket.AF_INET, packed)
    return f"{f'[{address}]' if ':' in address else address}:{int(port, 16)}"
