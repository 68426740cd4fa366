"""Processes that outlive their starter, known by process id and start time, so that no stranger is ever ended."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.machine import environment, wait_until, words, write

# It says who it is and waits until that is recorded; whoever is killed in between, nothing runs unrecorded.
BECOME = """
echo $$; read -r recorded || exit 1
log=$1; shift; exec >>"$log" 2>&1
while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit 1; shift; done; shift
exec "$@" </dev/null
"""


@dataclass(frozen=True)
class Process:
    """One process of this machine."""

    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this id now."""
        return cls(pid, int(_stat(pid)[19]))

    @classmethod
    def recorded(cls, record: Path) -> Process | None:
        """The process that a record names, whether or not it still runs."""
        try:
            pid, start = record.read_text().split()
        except FileNotFoundError:
            return None
        return cls(int(pid), int(start))

    @property
    def alive(self) -> bool:
        """Whether it still runs, and is not another one with the same id."""
        stat = _stat(self.pid)
        return bool(stat) and int(stat[19]) == self.start and stat[0] not in "ZX"

    def kill(self) -> None:
        """End it at once and wait until it is gone."""
        try:
            handle = os.pidfd_open(self.pid)
        except (ProcessLookupError, FileNotFoundError):  # the second when its number is a thread of another by now
            return
        try:
            if self.alive:  # asked while holding the handle: what is signalled is what was looked at
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
        self.wait(10)

    def wait(self, seconds: float) -> None:
        """Wait until it is gone."""
        wait_until(lambda: not self.alive, seconds, f"process {self.pid} ended")


def detach(command: Sequence[str | Path], record: Path, log: Path, cgroups: Sequence[Path] = ()) -> Process:
    """Start a program in a session and cgroups of its own, recorded before it becomes that program."""
    for cgroup in cgroups:
        cgroup.mkdir(exist_ok=True)
    starting = ["setsid", "--fork", "sh", "-c", BECOME, "sh", *words([log, *cgroups, "--", *command])]
    with subprocess.Popen(
        starting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), text=True
    ) as shell:
        assert shell.stdin
        assert shell.stdout
        process = Process.of(int(shell.stdout.readline()))
        write(record, f"{process.pid} {process.start}\n")
        shell.stdin.write("recorded\n")
    return process


def children(pid: int) -> list[int]:
    """The ids of the processes that one started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: state first, start time twentieth; none when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
