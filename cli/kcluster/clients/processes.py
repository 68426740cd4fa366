"""Processes of this machine: start one that outlives kcluster, identify it later, end it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """A process, identified by its pid and start time, as pids are reused."""

    pid: int
    started: int
    """Clock ticks after boot (field 22 of /proc/PID/stat): pids are reused, the pair is not."""


def start(command: Sequence[str], *, environment: Mapping[str, str], directory: Path, output: Path) -> Process:
    """Start a command in a new session without a terminal, with its output in a file."""
    # posix_spawn cannot change the directory, a shell can; `exec` keeps the pid.
    line = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(directory), *command]
    pid = os.posix_spawn(
        line[0],
        line,
        dict(environment),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        # Python ignores SIGPIPE and children would inherit that.
        setsigmask=[],
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM],
    )
    return Process(pid, int(_stat(pid)[19]))


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block SIGINT, SIGTERM and SIGHUP until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def alive(process: Process) -> bool:
    """Whether this process still runs; a zombie child is reaped."""
    try:
        fields = _stat(process.pid)
    except (FileNotFoundError, ProcessLookupError):
        return False
    if int(fields[19]) != process.started:
        return False
    if fields[0] == "Z":
        _reap(process.pid)
        return False
    return fields[0] != "X"


def end(process: Process, how: signal.Signals = signal.SIGTERM) -> None:
    """Send a signal to this process, if it still runs."""
    if alive(process):
        os.kill(process.pid, how)


def session(process: Process, mark: str) -> list[Process]:
    """The processes of the session that this one leads, also after it has ended.

    `mark` is a NAME=VALUE of its environment, as another session may have reused the pid.
    """
    members = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields, environment = _stat(int(folder.name)), (folder / "environ").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if int(fields[3]) == process.pid and fields[0] not in "ZX" and mark.encode() in environment.split(b"\0"):
            members.append(Process(int(folder.name), int(fields[19])))
    return members


def left_after(processes: Iterable[Process], seconds: float) -> list[Process]:
    """Wait up to `seconds` until the processes have ended; returns those that still run."""
    deadline = time.monotonic() + seconds
    left = [process for process in processes if alive(process)]
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [process for process in left if alive(process)]
    return left


def uptime(process: Process) -> float:
    """Seconds since the process was started."""
    since_boot = float(Path("/proc/uptime").read_text().split()[0])
    return max(0.0, since_boot - process.started / _TICKS)


def memory(process: Process) -> int:
    """Resident memory of the process in bytes."""
    try:
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * _PAGE
    except (FileNotFoundError, ProcessLookupError):
        return 0


def maps(process: Process, path: Path) -> bool:
    """Whether the process has a file mapped into its memory."""
    try:
        return f" {path}\n" in Path(f"/proc/{process.pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; the name before may hold spaces and brackets."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _reap(pid: int) -> None:
    """Reap an ended child; a child of another process cannot be waited for."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
