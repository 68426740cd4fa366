from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from kcluster.clients import processes
from kcluster.clients.processes import Process


def started(tmp_path: Path, script: str) -> Process:
    return processes.start(
        ["/bin/sh", "-c", script], environment={"WORD": "hello"}, directory=tmp_path, output=tmp_path / "out"
    )


def said(tmp_path: Path, text: str) -> str:
    """What the process has written, as soon as this is in it."""
    deadline = time.monotonic() + 5
    while text not in (written := (tmp_path / "out").read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return written


def test_a_process_gets_its_surroundings_and_a_session_of_its_own(tmp_path):
    process = started(tmp_path, 'echo "$WORD from $(pwd)"; echo trouble >&2; exec sleep 30')
    assert os.getsid(process.pid) == process.pid
    assert processes.alive(process)
    assert said(tmp_path, "trouble") == f"hello from {tmp_path}\ntrouble\n"
    processes.end(process)
    assert processes.left_after([process], 5) == []


def test_it_is_known_by_pid_and_start_time(tmp_path):
    process = started(tmp_path, "exec sleep 30")
    assert not processes.alive(Process(process.pid, process.started + 1))
    processes.end(Process(process.pid, process.started + 1), signal.SIGKILL)
    assert processes.alive(process)
    processes.end(process, signal.SIGKILL)
    assert processes.left_after([process], 5) == []
    assert not processes.alive(process)


def test_one_that_does_not_end_is_told(tmp_path):
    process = started(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    assert "ready" in said(tmp_path, "ready")
    processes.end(process)
    assert processes.left_after([process], 0.2) == [process]
    processes.end(process, signal.SIGKILL)
    assert processes.left_after([process], 5) == []


def test_signals_that_python_ignores_or_we_hold_back_reach_it(tmp_path):
    with processes.signals_blocked():
        process = started(tmp_path, "exec sleep 30")
    status = Path(f"/proc/{process.pid}/status").read_text()
    masks = dict(line.split() for line in status.splitlines() if line.startswith(("SigBlk", "SigIgn")))
    processes.end(process, signal.SIGKILL)
    assert int(masks["SigBlk:"], 16) == 0
    assert int(masks["SigIgn:"], 16) & (1 << signal.SIGPIPE - 1) == 0


def test_memory_and_uptime_of_ourselves():
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    ourselves = Process(os.getpid(), int(stat[19]))
    assert processes.memory(ourselves) > 1_000_000
    assert 0 <= processes.uptime(ourselves) < 86400
