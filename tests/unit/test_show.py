"""How results look."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from pathlib import Path

import pytest
import yaml

from kcluster import show
from kcluster.errors import UsageError
from kcluster.results import Block, Cell, Grid, Message, Result, Tone


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Fruit(Result):
    name: str
    colour: Colour

    def view(self) -> Iterable[Block]:
        yield Grid(("NAME", "EMPTY", "COLOUR"), [[self.name, "", Cell(self.colour, Tone.BAD)], ["fig", "", "blue"]])
        yield "two fruits"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def shown(value: Result, form: show.OutputFormat, out: StringIO | None = None) -> str:
    out = out or StringIO()
    show.result(value, form, out=out)
    return out.getvalue()


def test_a_grid_lines_up_and_leaves_out_columns_that_say_nothing() -> None:
    assert shown(Fruit("apple", Colour.RED), show.OutputFormat.TABLE) == (
        "NAME   COLOUR\napple  red\nfig    blue\ntwo fruits\n"
    )


def test_an_empty_grid_prints_nothing() -> None:
    @dataclass(frozen=True)
    class Nothing(Result):
        def view(self) -> Iterable[Block]:
            yield Grid(("A",), [])

    assert shown(Nothing(), show.OutputFormat.TABLE) == ""


def test_json_and_yaml_say_the_same() -> None:
    fruit = Fruit("äpple", Colour.RED)
    assert json.loads(shown(fruit, show.OutputFormat.JSON)) == {"name": "äpple", "colour": "red"}
    assert yaml.safe_load(shown(fruit, show.OutputFormat.YAML)) == {"name": "äpple", "colour": "red"}


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    fruit = Fruit("apple", Colour.RED)
    assert "\033[31mred\033[0m" in shown(fruit, show.OutputFormat.TABLE, Terminal())
    assert "\033" not in shown(fruit, show.OutputFormat.TABLE)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in shown(fruit, show.OutputFormat.TABLE, Terminal())


def test_a_message_says_what_to_do_next() -> None:
    assert shown(Message("done", ["then this"]), show.OutputFormat.TABLE) == "done\nthen this\n"


def test_a_suggested_command_names_the_inventory_that_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    refused = UsageError("no", resolution="kcluster health -i INV")
    show.inventory_is(Path("inventories/my cluster"))
    show.error(refused)
    show.inventory_is(None)
    show.error(refused)
    said = capsys.readouterr().err
    assert "try: kcluster health -i 'inventories/my cluster'\n" in said
    assert "try: kcluster health -i INV\n" in said


def test_an_error_is_data_where_data_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    refused = UsageError("no", details="a and 1 more", resolution="kcluster health -i INV", lists={"why": ("a", "b")})
    show.inventory_is(Path('inventories/"mine"'))
    show.failure(refused, show.OutputFormat.TABLE)
    assert capsys.readouterr().out == ""
    expected = {
        "message": "no",
        "details": "a and 1 more",
        "resolution": "kcluster health -i 'inventories/\"mine\"'",
        "exit_code": 2,
        "lists": {"why": ["a", "b"]},
    }
    show.failure(refused, show.OutputFormat.JSON)
    assert json.loads(capsys.readouterr().out) == {"error": expected}
    show.failure(refused, show.OutputFormat.YAML)
    assert yaml.safe_load(capsys.readouterr().out) == {"error": expected}
    show.inventory_is(None)


def test_an_error_about_many_hosts_still_shows_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    hosts = "\n".join(f"h{number} has no python3" for number in range(218))
    show.error(UsageError("hosts cannot be asked", details=hosts, resolution="install it"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[-3:] == [
        "  h39 has no python3",
        "  and 178 more lines (all of them: -o json)",
        "  try: install it",
    ]
