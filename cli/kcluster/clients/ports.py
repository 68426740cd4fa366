"""The door to this machine's ports: which are free, who holds one, and whether one answers."""

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
        """In words that fit after "is held by"."""
        return f"{self.command} (pid {self.pid})"


def free(port: int) -> bool:
    """Whether a server could listen on the port, on any address."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind(("", port))
        except OSError:
            return False
    return True


def answers(host: str, port: int, *, within: float = 0.5) -> bool:
    """Whether somebody accepts connections there."""
    try:
        socket.create_connection((host, port), within).close()
    except OSError:
        return False
    return True


def held_by(pid: int, port: int) -> bool:
    """Whether it is this process that listens on the port, and not another that was quicker."""
    return bool(_sockets(port) & _open_sockets(Path(f"/proc/{pid}")))


class Reservation:
    """Ports that no other kcluster of this machine chooses until this one lets them go.

    A JVM takes seconds until it listens, and in that time the port looks free to everybody else.
    """

    def __init__(self) -> None:
        self._marks: dict[int, socket.socket] = {}

    def take(self, port: int) -> bool:
        """Reserve a port; False when another kcluster is about to use it."""
        if port in self._marks:
            return True
        mark = socket.socket(socket.AF_UNIX)
        try:
            # A name without a file (Linux); the kernel frees it when this process ends, however it ends.
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
        """Let all ports go."""
        for mark in self._marks.values():
            mark.close()


def holder(port: int) -> PortHolder | None:
    """Who listens on the port; None when nobody does or the system does not tell us."""
    sockets = _sockets(port)
    if not sockets:
        return None
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and sockets & _open_sockets(process):
            return PortHolder(int(process.name), _command(process))
    return None


def described(port: int) -> str:
    """The holder, or what can be said when the system does not tell."""
    found = holder(port)
    return str(found) if found else "another user's process, or a kcluster that is starting"


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
    """What people know the process by: its program, and for Java also the class that runs."""
    try:
        words = process.joinpath("cmdline").read_text().rstrip("\0").split("\0")
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return "a process"
    program = Path(words[0]).name
    main = next((word for word in words[1:] if word.startswith(("kafka.", "org.apache.")) and "=" not in word), "")
    return f"{program} {main}".strip()
