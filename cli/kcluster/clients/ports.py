"""The ports of this machine: which are free, which process listens, whether a port accepts connections."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from kcluster.clients import host_scripts
from kcluster.clients.dialing import Dial, direct


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


def answers(host: str, port: int, *, within: float = 0.5, dial: Dial = direct) -> bool:
    """Whether the address accepts connections, waiting `within` seconds at most."""
    try:
        dial(host, port, within).close()
    except OSError:
        return False
    return True


def held_by(pid: int, port: int) -> bool:
    """Whether this process listens on the port, and not another one."""
    return bool(_listening(port) & _sockets().open_files(pid))


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
    listening = _listening(port)
    if not listening:
        return None
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and listening & _sockets().open_files(process.name):
            return PortHolder(int(process.name), _command(process))
    return None


def described(port: int) -> str:
    """The process on a port in a sentence, also where it is unknown."""
    process = holder(port)
    return str(process) if process else "a process of another user, or another kcluster that is starting"


def _sockets() -> ModuleType:
    return host_scripts.load("sockets")


def _listening(port: int) -> set[str]:
    """The names under which /proc/PID/fd shows the sockets that listen on a port, on any address."""
    return {name for name, address in _sockets().listening().items() if address.endswith(f":{port}")}


def _command(process: Path) -> str:
    """The program of a process, and for Java its main class."""
    try:
        words = process.joinpath("cmdline").read_text().rstrip("\0").split("\0")
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return "a process"
    program = Path(words[0]).name
    main = next((word for word in words[1:] if word.startswith(("kafka.", "org.apache.")) and "=" not in word), "")
    return f"{program} {main}".strip()
