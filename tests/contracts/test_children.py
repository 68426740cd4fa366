"""The suite does not depend on how it is started, and what a test starts ends with it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.children import child

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
