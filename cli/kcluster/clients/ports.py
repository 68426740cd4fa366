"""The ports of this machine: which are free, which process listens, whether a port accepts connections."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LISTENING = "0A"


@dataclass(frozen=True)
class PortHolder:
    """The process that listens on a port."""

    pid: int
    command: str

    def __str__(self) -> str:
        """In a sentence: "java kafka.Kafka (pid 42)"."""
        return f"{self.command} (pid {self.pid})"


def free(port: int) -> bool:
    """Whether a server could listen on the port, on any address."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("", port))
        except OSError:
            return False
    return True


def answers(host: str, port: int, *, within: float = 0.5) -> bool:
    """Whether the address accepts connections, waiting `within` seconds at most."""
    try:
        socket.create_connection((host, port), within).close()
    except OSError:
        return False
    return True


def held_by(pid: int, port: int) -> bool:
    """Whether this process listens on the port, and not another one."""
    return bool(_sockets(port) & _open_sockets(Path(f"/proc/{pid}")))


class Reservation:
    """Ports reserved among the kcluster processes of this machine until the reservation ends.

    A JVM takes seconds until it listens; until then its port would look free.
    """

    def __init__(self) -> None:
        self._marks: dict[int, socket.socket] = {}

    def take(self, port: int) -> bool:
        """Reserve a port; False when another kcluster has reserved it."""
        if port in self._marks:
            return True
        mark = socket.socket(socket.AF_UNIX)
        try:
            # An abstract socket name (Linux): the kernel frees it when this process ends.
            mark.bind(f"\0kcluster-port-{port}")
        except OSError:
            mark.close()
            return False
        self._marks[port] = mark
        return True

    def __enter__(self) -> Reservation:
        """The reservation itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release all ports."""
        for mark in self._marks.values():
            mark.close()


def holder(port: int) -> PortHolder | None:
    """The process that listens on the port; None when there is none, or it belongs to another user."""
    sockets = _sockets(port)
    if not sockets:
        return None
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and sockets & _open_sockets(process):
            return PortHolder(int(process.name), _command(process))
    return None


def described(port: int) -> str:
    """The process on a port in a sentence, also where it is unknown."""
    process = holder(port)
    return str(process) if process else "a process of another user, or another kcluster that is starting"


def _sockets(port: int) -> set[str]:
    """The names under which /proc/PID/fd shows the sockets that listen on a port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except FileNotFoundError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{fields[9]}]")
    return found


def _open_sockets(process: Path) -> set[str]:
    found = set()
    with suppress(PermissionError, FileNotFoundError, ProcessLookupError):
        for entry in os.listdir(process / "fd"):
            with suppress(FileNotFoundError):  # closed since the folder was read
                found.add(os.readlink(process / "fd" / entry))
    return found


def _command(process: Path) -> str:
    """The program of a process, and for Java its main class."""
    try:
        words = process.joinpath("cmdline").read_text().rstrip("\0").split("\0")
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return "a process"
    program = Path(words[0]).name
    main = next((word for word in words[1:] if word.startswith(("kafka.", "org.apache.")) and "=" not in word), "")
    return f"{program} {main}".strip()
