"""A reader that goes, as `| head` does, changes neither what a command does nor how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcluster.errors import ExitCode


def ended(*words: str, both: bool) -> int:
    """The exit code of a command that nobody listens to: neither its result nor, with `2>&1`, its progress."""
    reading, writing = os.pipe()
    os.close(reading)
    errors = writing if both else subprocess.DEVNULL
    try:
        command = [sys.executable, "-m", "kcluster", *words]
        return subprocess.run(command, stdout=writing, stderr=errors, check=False, timeout=60).returncode
    finally:
        os.close(writing)


@pytest.mark.parametrize("both", [False, True])
def test_the_exit_code_is_that_of_the_work(tmp_path: Path, both: bool) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text("all: {children: {kafka_broker: {hosts: {b1: }}}}\n")
    assert ended("validate", "-i", str(inventory), both=both) == ExitCode.INVENTORY
    assert ended("validate", "--nonsense", both=both) == ExitCode.USAGE
    assert ended("explain", "sudo", both=both) == ExitCode.DONE
