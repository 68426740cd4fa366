"""A reader that goes, as `| head` does, changes neither what a command does nor how it ends; a full disk is told."""

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


def on_a_full_disk(*words: str, both: bool) -> subprocess.CompletedProcess[str]:
    """How a command ends whose result, and with `2>&1` also its progress, goes where there is no room."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "kcluster", *words]
        errors = full if both else subprocess.PIPE
        return subprocess.run(command, stdout=full, stderr=errors, text=True, check=False, timeout=60)


@pytest.mark.parametrize("words", [["explain"], ["explain", "-o", "json"], ["--help"], ["explain", "--help"]])
def test_a_result_that_finds_no_room_is_told_in_one_line(words: list[str]) -> None:
    done = on_a_full_disk(*words, both=False)
    assert done.returncode == ExitCode.NO
    problem, advice = done.stderr.splitlines()
    assert problem == "error: stdout cannot be written: No space left on device"
    assert "free disk space" in advice


def test_without_room_for_its_words_a_command_ends_as_ever(tmp_path: Path) -> None:
    assert on_a_full_disk("validate", "-i", str(tmp_path / "none.yml"), both=True).returncode == ExitCode.INVENTORY
