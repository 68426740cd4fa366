from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kcluster.clients import host_scripts

logs = host_scripts.load("read_logs")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def asked(log: Path) -> dict[str, Any]:
    return {"name": "broker-1", "path": str(log), "unit": "kafka"}


def after(log: Path, lines: int = 5) -> dict[str, Any]:
    """The question for what comes after the last lines."""
    return {**asked(log), **logs.of_node(asked(log), lines, journal=False)}


def test_the_last_lines_are_as_many_as_wanted_also_over_several_blocks(log, monkeypatch):
    monkeypatch.setattr(logs, "BLOCK", 7)
    log.write_text("".join(f"line {number}\n" for number in range(20)))
    assert logs.of_node(asked(log), 3, journal=False)["lines"] == ["line 17", "line 18", "line 19"]
    assert logs.of_node(asked(log), 0, journal=False)["lines"] == []
    assert len(logs.of_node(asked(log), 99, journal=False)["lines"]) == 20


def test_following_goes_on_in_the_very_file_that_was_read_though_it_has_been_rolled_over(log):
    log.write_text("old\n")
    question = after(log)
    with log.open("a") as out:
        out.write("in between\n")
    log.rename(log.with_name("server.log.1"))
    log.write_text("after the roll\n")
    with closing(logs.FollowedFile(question)) as followed:
        assert followed.new() == ["in between"]
        assert followed.new() == ["after the roll"]
        assert followed.new() == []


def test_what_is_written_just_before_a_roll_is_not_lost(log, monkeypatch):
    log.write_text("old\n")
    moved = logs.FollowedFile.moved

    def rolled_meanwhile(followed: logs.FollowedFile) -> bool:
        with log.open("a") as out:
            out.write("at the last moment\n")
        log.rename(log.with_name("server.log.1"))
        log.write_text("after the roll\n")
        return moved(followed)

    with closing(logs.FollowedFile(after(log))) as followed:
        monkeypatch.setattr(logs.FollowedFile, "moved", rolled_meanwhile)
        assert followed.new() == ["at the last moment", "after the roll"]


def test_half_a_line_waits_for_its_end_and_a_log_that_begins_again_is_read_from_its_start(log):
    log.write_text("old and longer\n")
    with closing(logs.FollowedFile(after(log))) as followed:
        with log.open("a") as out:
            out.write("half")
        assert followed.new() == []
        with log.open("a") as out:
            out.write(" and half\n")
        assert followed.new() == ["half and half"]
        log.write_text("short\n")
        assert followed.new() == ["short"]


def test_a_log_that_is_not_there_yet_is_awaited_and_the_journal_shown_meanwhile(log, monkeypatch):
    monkeypatch.setattr(logs, "of_journal", lambda unit, lines: {"lines": [f"what {unit} said"], "cursor": "c"})
    question = after(log)
    assert question["lines"] == ["what kafka said"]
    with closing(logs.FollowedFile(question)) as followed:
        assert followed.new() == []
        log.write_text("first\n")
        assert followed.new() == ["first"]
