"""The suite does not depend on how it is started, and what a test starts ends with it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.children import child
from tests.lab.process import Process
from tests.leftovers import reap

ASK = "import signal; print(signal.getsignal(signal.SIGINT), int(signal.getsignal(signal.SIGHUP)))"
START = f"""
import subprocess, sys
from tests.children import take_signals
take_signals()
sys.exit(subprocess.run([sys.executable, "-c", {ASK!r}]).returncode)
"""


def test_children_of_a_suite_that_was_started_with_nohup_have_the_usual_signals(project: Path) -> None:
    ignoring = ["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh", sys.executable, "-c", START]
    done = subprocess.run(ignoring, capture_output=True, text=True, cwd=project, check=True)
    assert done.stdout == f"{signal.default_int_handler} {int(signal.SIG_DFL)}\n"


def test_a_child_is_killed_when_its_test_fails() -> None:
    with pytest.raises(ZeroDivisionError), child(["sleep", "600"]) as process:
        raise ZeroDivisionError
    assert process.returncode == -signal.SIGKILL


def test_a_child_is_waited_for_when_all_went_well() -> None:
    with child(["sh", "-c", "read line; exit 3"], stdin=subprocess.PIPE) as process:
        pass
    assert process.returncode == 3


RUN = """
import sys
from pathlib import Path
from tests.leftovers import noted
with noted(Path(sys.argv[1])):
    print("noted", flush=True)
    input()
"""


def record(folder: Path, process: Process, *, of_a_job: bool) -> None:
    """A record as a local cluster has it, or a job."""
    facts: dict[str, Any] = {"process": {"pid": process.pid, "started": process.start}}
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps(facts if of_a_job else {"started": {"broker-1": facts}}))


def test_what_a_killed_run_left_running_ends_with_the_next_one_and_no_stranger(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    run_ = [sys.executable, "-c", RUN, str(tmp_path / "run")]
    with (
        child(["sleep", "600"]) as node,
        child(["sleep", "600"]) as job,
        child(["sleep", "600"]) as stranger,
        child(run_, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project) as run,
    ):
        record(tmp_path / "run/home/local/live", Process.of(node.pid), of_a_job=False)
        record(tmp_path / "run/home/jobs/live/ingest", Process.of(job.pid), of_a_job=True)
        record(tmp_path / "run/own/local/own", Process(stranger.pid, 1), of_a_job=False)
        assert run.stdout
        assert run.stdout.readline() == b"noted\n"
        reap()
        assert [each.poll() for each in (node, job, stranger)] == [None, None, None], "the run still goes on"
        run.kill()
        run.wait()
        reap()
        assert [node.wait(10), job.wait(10), stranger.poll()] == [-signal.SIGKILL, -signal.SIGKILL, None]
        stranger.kill()
    assert list((tmp_path / "cache/test-runs").iterdir()) == []
