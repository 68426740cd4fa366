"""What `--help` shows in 80 columns, and the short forms that other tools have taught people."""

from __future__ import annotations

import pytest

from kcluster import app
from kcluster.errors import ExitCode
from tests.commands import every_command

GROUPS = ["topic", "group", "broker", "release", "job", "history"]
ALIASES = [(f"{group} ls", f"{group} list") for group in GROUPS[:5]]
ALIASES += [(f"{group} rm", f"{group} delete") for group in GROUPS[:2]]


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def shown(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert app.main(line.split()) == ExitCode.DONE
    return capsys.readouterr().out


def test_the_commands_stand_in_sections_each_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown("--help", capsys).splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Options:", "Start here:", "Hosts:", "Cluster:", "Data:", "Jobs:"]
    width = max(map(len, app.COMMANDS))
    for word, sentence in app.COMMANDS.items():
        assert f"  {word:{width}}  {sentence}" in lines


@pytest.mark.parametrize("group", GROUPS)
def test_no_sentence_of_a_subcommand_is_cut(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = shown(f"{group} --help", capsys).partition("Commands:\n")[2]
    assert listed
    assert "..." not in listed
    assert max(map(len, listed.splitlines())) <= 80


@pytest.mark.parametrize("command", ["", *every_command()])
def test_h_is_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(f"{command} -h", capsys) == shown(f"{command} --help", capsys)


@pytest.mark.parametrize(("alias", "command"), ALIASES)
def test_an_alias_is_the_command_and_hidden(alias: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(f"{alias} --help", capsys).replace(alias, command) == shown(f"{command} --help", capsys)
    group, word = alias.split()
    assert f"  {word} " not in shown(f"{group} --help", capsys)


@pytest.mark.parametrize("line", ["broker rm", "history ls"])
def test_there_is_no_alias_of_what_is_not_there(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(line.split()) == ExitCode.USAGE
    assert f"unknown command {line.split()[1]}" in capsys.readouterr().err
