"""The process as people start it: Ctrl-C at any moment, and streams that are closed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from kcluster.app import main
from kcluster.errors import ExitCode
from tests.children import child

SCRIPT = [sys.executable, str(Path(sys.executable).with_name("kcluster"))]
MODULE = [sys.executable, "-m", "kcluster"]
IMPORTED = "import time:"
"""How Python begins the line of each module that it has imported, when it is asked to tell."""


@contextmanager
def telling(*words: str, entry: Sequence[str] = MODULE) -> Iterator[subprocess.Popen[str]]:
    """A command that tells what it imports, from when the package's own code runs: before, Python alone is at work."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with child([*entry, *words], env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}, **options) as running:
        while not (line := running.stderr.readline()).endswith(" kcluster\n"):
            assert line, "it ended before"
        yield running


def interrupted(running: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Exit code, output and errors of a command after Ctrl-C."""
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=20)
    return running.returncode, output, [line for line in errors.splitlines() if not line.startswith(IMPORTED)]


def test_ctrl_c_ends_with_one_line_at_any_moment() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        listing = ("topic", "list", "-b", f"127.0.0.1:{silent.getsockname()[1]}")
        with telling(*listing) as running, silent.accept()[0]:  # it waits for a broker's answer
            assert interrupted(running) == (ExitCode.INTERRUPTED, "", ["interrupted"])
        for moment, entry in zip(range(2, 150, 10), cycle([SCRIPT, MODULE])):
            with telling(*listing, entry=entry) as running:
                for _ in range(moment):
                    running.stderr.readline()
                assert interrupted(running) == (ExitCode.INTERRUPTED, "", ["interrupted"]), moment


INTERRUPTED_EXEC = """
import kcluster.__main__, kcluster.app
def main():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 130
kcluster.app.main = main
kcluster.__main__.entry()
"""


def test_ctrl_c_within_an_exec_does_not_change_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(INTERRUPTED_EXEC)
    assert subprocess.run([sys.executable, "-m", "own"], cwd=tmp_path).returncode == ExitCode.INTERRUPTED


def test_ctrl_c_is_ignored_where_the_process_was_started_to_ignore_it() -> None:
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *MODULE]
    with telling("--version", entry=ignoring) as running:
        code, output, errors = interrupted(running)
    assert (code, output.split()[0], errors) == (ExitCode.DONE, "kcluster", [])


def test_an_interrupt_of_which_c_code_made_an_error_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def invoke(*_: object) -> None:
        raise SystemError("<built-in function poll> returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(TyperGroup, "invoke", invoke)
    assert main(["release", "list"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


CLOSED = ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-")


@pytest.mark.parametrize(
    ("closed", "words", "code"),
    [
        *((closed, "release list", ExitCode.DONE) for closed in CLOSED),
        *((closed, "release lst", ExitCode.USAGE) for closed in CLOSED),
        ("<&- >&-", "topic list -b 127.0.0.1:1", ExitCode.UNREACHABLE),
    ],
)
def test_a_closed_stream_is_an_empty_one(closed: str, words: str, code: ExitCode, tmp_path: Path) -> None:
    def run(redirected: str) -> subprocess.CompletedProcess[str]:
        command = ["sh", "-c", f'exec "$@" {redirected}', "sh", *MODULE, *words.split()]
        environment = {**os.environ, "KCLUSTER_CACHE": str(tmp_path)}
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)

    usual, done = run(""), run(closed)
    assert done.returncode == usual.returncode == code, done.stderr
    assert done.stdout == ("" if " >&-" in f" {closed}" else usual.stdout)
    assert done.stderr == ("" if "2>&-" in closed else usual.stderr)
