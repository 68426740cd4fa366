from __future__ import annotations

import io
import re

import pytest

from kcluster.results import StepState
from kcluster.show.board import ProgressBoard

LONG = "Bring the Kafka release onto the host, and a sentence that is far too long for a narrow terminal"


class Terminal(io.StringIO):
    """A terminal that remembers what is on its screen."""

    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        lines: list[str] = []
        for up, text in re.findall(r"(?:\033\[(\d+)F\033\[J)|([^\n]*)\n", self.getvalue()):
            if up:
                del lines[-int(up) :]
                continue
            lines.append(re.sub(r"\033\[[0-9;]*m", "", text))
        return lines


def run(board: ProgressBoard) -> None:
    board.phase("check")
    board.say("warning: h1: little memory")
    board.phase("apply")
    for host in ("h1", "h2"):
        board.step(host, LONG, StepState.STARTED)
    board.step("h1", LONG, StepState.CHANGED)


def run_half(board: ProgressBoard) -> None:
    run(board)
    raise ValueError("half way")


def test_without_a_terminal_phases_and_changes_are_lines():
    out = io.StringIO()
    with ProgressBoard(out) as board:
        run(board)
    assert out.getvalue().splitlines() == [
        "check ...",
        "  warning: h1: little memory",
        "apply ...",
        f"  h1: changed: {LONG}",
    ]


def test_on_a_terminal_finished_phases_stay_and_hosts_go(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    with ProgressBoard(out) as board:
        run(board)
        working = out.screen
    assert working[-3].startswith("....  apply")
    assert [line[:10].split()[0] for line in working[-2:]] == ["h1", "h2"]
    assert all(len(line) <= 60 for line in working)
    assert working[-1].endswith("…")
    assert [re.sub(r"\d+\.\d s", "N s", line) for line in out.screen] == [
        "  warning: h1: little memory",
        "done  check  N s",
        "done  apply  N s",
    ]


def test_what_was_going_on_when_it_failed_stays_on_the_screen():
    out = Terminal()
    with pytest.raises(ValueError, match="half"), ProgressBoard(out) as board:
        run_half(board)
    assert [line[:10].split()[0] for line in out.screen[-2:]] == ["h1", "h2"]
