"""Wrong command lines are answered with one line that says what to do."""

from __future__ import annotations

import pytest

from kcluster import app
from kcluster.errors import ExitCode
from kcluster.usage import READING, similar_commands
from tests.commands import every_command

CHANGING = [command for command in every_command() if command not in READING]


@pytest.mark.parametrize(
    ("line", "message", "advice"),
    [
        ("consume", "missing TOPIC: use kcluster consume [OPTIONS] TOPIC", "kcluster consume --help"),
        ("produce t --acks 2", "--acks 2: use 0, 1 or all", "kcluster produce --help"),
        ("topic list -o x", "--output x: use table, wide, json or yaml", "kcluster topic list --help"),
        ("completion tcsh", "SHELL tcsh: use bash, zsh or fish", "kcluster completion --help"),
        ("topic create t -p x", "--partitions x: use a whole number of at least 1", "kcluster topic create --help"),
        ("topic create t -p 0", "--partitions 0: use a whole number of at least 1", "kcluster topic create --help"),
        ("smoke --messages 0", "--messages 0: use a whole number from 1 to 1000000", "kcluster smoke --help"),
        ("smoke --timeout 1", "--timeout 1: use a number of at least 5", "kcluster smoke --help"),
        ("consume t -p 0 -p x", "--partition x: use a whole number of at least 0", "kcluster consume --help"),
        ("broker config x", "ID x: use a whole number", "kcluster broker config --help"),
        ("health --wait x", "--wait x: use a time such as 30s, 2m or 1h", "kcluster health --help"),
        ("health --wait", "--wait: a value is missing", "kcluster health --help"),
        ("health --watch=x", "--watch: it takes no value", "kcluster health --help"),
        ("smoke --message 3", "unknown option --message, did you mean --messages?", "kcluster smoke --help"),
        ("topic create t --bogus", "unknown option --bogus", "kcluster topic create --help"),
        (
            "topic alter a b",
            "unexpected argument b: use kcluster topic alter [OPTIONS] TOPIC",
            "kcluster topic alter --help",
        ),
        ("topic crate", "unknown command crate, did you mean create?", "kcluster topic --help"),
        ("provisoin", "unknown command provisoin", "kcluster --help"),
        ("stats", "unknown command stats, did you mean status?", "kcluster --help"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_what_to_do(
    line: str, message: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(line.split()) == ExitCode.USAGE
    assert capsys.readouterr().err == f"error: {message}\n  try: {advice}\n"


@pytest.mark.parametrize("word", ["destory", "dwon", "restrat", "provisoin", "strart-all", "stpo"])
def test_a_command_that_changes_something_is_not_suggested_for_two_wrong_letters(word: str) -> None:
    assert set(similar_commands(word, app.COMMANDS)) <= READING


@pytest.mark.parametrize(("word", "command"), [("destro", "destroy"), ("dawn", "down"), ("sstart", "start")])
def test_it_is_suggested_for_one_wrong_letter(word: str, command: str) -> None:
    assert command in similar_commands(word, app.COMMANDS)


def test_the_reading_commands_exist_and_the_changing_ones_are_not_among_them() -> None:
    commands = set(every_command())
    assert commands >= READING
    assert {"provision", "destroy", "down", "restart", "stop", "start", "up", "exec", "produce"} <= set(CHANGING)
    assert {"topic delete", "topic apply", "topic alter", "group reset", "job submit", "job stop"} <= set(CHANGING)
