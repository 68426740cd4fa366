"""Programs for hosts, run on this machine as they run there: fed to a bare python3."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from kcluster.clients import host_scripts

LOGS = {"nodes": [], "lines": 1, "journal": False}


def run(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-IS", "-"], input=text, capture_output=True, text=True, check=False)


def test_a_program_brings_the_library_that_its_script_imports_and_nothing_else() -> None:
    text = host_scripts.program("preflight_host", {})
    assert "def missing_mount" in text
    assert "class Work" not in text
    assert host_scripts.program("hold_lock", {}).count("load(") == 2


def test_a_question_is_data_whatever_stands_in_it() -> None:
    evil: dict[str, Any] = {**LOGS, "also": "'''); import os; os.abort() #\n\\"}
    assert json.loads(run(host_scripts.program("read_logs", evil, function="last")).stdout) == {}


def test_an_old_python_names_its_version_and_runs_nothing() -> None:
    text = host_scripts.program("read_logs", LOGS, function="last").replace("(3, 8)", "(9, 0)", 1)
    done = run(text)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Python {sys.version_info[0]}.{sys.version_info[1]}")


@pytest.mark.parametrize("script", ["observe_host", "preflight_network"])
def test_a_script_can_be_loaded_here_with_its_library(script: str) -> None:
    module = host_scripts.load(script)
    assert module is host_scripts.load(script)
    assert host_scripts.LIBRARY not in sys.modules or sys.modules[host_scripts.LIBRARY].__name__ == host_scripts.LIBRARY
    assert callable(module.main)
