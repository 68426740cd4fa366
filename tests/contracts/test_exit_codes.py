"""Every way to end has its exit code, and errors look alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kcluster import app, show
from kcluster.errors import (
    ApplyError,
    ExitCode,
    InventoryError,
    KclusterError,
    LockedError,
    RefusedError,
    UnreachableError,
    UsageError,
)
from kcluster.results import Check, Checks


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UsageError, 2),
        (InventoryError, 3),
        (RefusedError, 4),
        (ApplyError, 5),
        (UnreachableError, 6),
        (LockedError, 7),
        (KclusterError, 1),
    ],
)
def test_an_error_ends_with_the_code_of_its_kind(
    kind: type[KclusterError], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise kind("it broke", details="here\nand there", resolution="mend it")

    monkeypatch.setattr(app, "_run", fail)
    assert app.main([]) == code
    assert capsys.readouterr().err == "error: it broke\n  here\n  and there\n  try: mend it\n"


def test_a_bug_shows_its_traceback_and_how_to_report_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "_run", lambda _: {}["nothing"])
    assert app.main([]) == ExitCode.BUG
    told = capsys.readouterr().err
    assert "KeyError" in told
    assert "error: this is a bug in kcluster" in told
    assert "try: report it" in told


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kcluster.commands.completion.script", interrupt)
    assert app.main(["completion", "bash"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["tpic"], "error: unknown command tpic, did you mean topic?\n  try: kcluster --help\n"),
        (["--bogus"], "error: unknown option --bogus\n  try: kcluster --help\n"),
        (
            ["topic", "create"],
            "error: missing TOPIC: use kcluster topic create [OPTIONS] TOPIC...\n  try: kcluster topic create --help\n",
        ),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(line) == ExitCode.USAGE
    assert capsys.readouterr().err == message


def test_a_check_that_does_not_hold_is_a_no(capsys: pytest.CaptureFixture[str]) -> None:
    checks = Checks("cluster x", [Check("controller", True, "1"), Check("brokers", False, "expected 3, observed 2")])
    assert checks.exit_code == ExitCode.NO
    show.result(checks, show.OutputFormat.TABLE)
    assert capsys.readouterr().out == (
        "RESULT  CHECK       DETAIL\n"
        "ok      controller  1\n"
        "FAILED  brokers     expected 3, observed 2\n"
        "cluster x: 1 of 2 checks failed\n"
    )


def test_a_reader_that_stops_early_is_no_error(project: Path) -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m kcluster --help | true"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
