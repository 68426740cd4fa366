"""Words of the command line as values: the same as Typer's, without its library."""

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer

from kcluster.errors import UsageError
from kcluster.option_types import PlainParameter, with_plain_types


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def sample() -> typer.Typer:
    app = typer.Typer(add_completion=False)

    @app.command()
    def command(
        word: str,
        words: Annotated[list[str] | None, typer.Option("--words")] = None,
        path: Annotated[Path | None, typer.Option("--path")] = None,
        colour: Annotated[Colour, typer.Option("--colour")] = Colour.RED,
        number: Annotated[int, typer.Option("--number", min=1)] = 3,
        there: Annotated[Path | None, typer.Option("--there", exists=True)] = None,
        flag: Annotated[bool, typer.Option("--flag")] = False,
    ) -> object:
        return word, words, path, colour, number, there, flag

    return app


@pytest.mark.parametrize(
    "words",
    [
        ["x"],
        ["x", "--words", "a", "--words", "b", "--path", "p/q", "--colour", "blue", "--number", "7", "--flag"],
        ["x", "--there", "."],
    ],
)
def test_values_are_the_ones_typer_makes(words):
    ours, theirs = with_plain_types(typer.main.get_command(sample())), typer.main.get_command(sample())
    assert ours.main(words, standalone_mode=False) == theirs.main(words, standalone_mode=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--colour", "green"], "--colour green: use red or blue"),
        (["--number", "0"], "--number 0: use a whole number of at least 1"),
        (["--number", "x"], "--number x: use a whole number of at least 1"),
        (["--there", "no-such"], "--there no-such: "),
    ],
)
def test_a_wrong_value_is_refused_with_what_to_write_instead(words, message):
    command = with_plain_types(typer.main.get_command(sample()))
    with pytest.raises(UsageError) as caught:
        command.main([*words, "x"], standalone_mode=False)
    assert caught.value.message.startswith(message)
    assert caught.value.resolution.endswith(" --help")


def test_usage_and_help_name_arguments_and_values_without_types(capsys):
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command()
    def command(
        topic: str,
        hosts: Annotated[list[str] | None, typer.Argument(metavar="[HOST]...")] = None,
        number: Annotated[int, typer.Option("--number")] = 3,
        path: Annotated[Path | None, typer.Option("--path")] = None,
        colour: Annotated[Colour, typer.Option("--colour")] = Colour.RED,
    ) -> None: ...

    with_plain_types(typer.main.get_command(app)).main(["--help"], prog_name="x", standalone_mode=False)
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == "Usage: x [OPTIONS] TOPIC [HOST...]"
    assert [line.split()[:2] for line in shown.splitlines() if line.startswith("  --") and "help" not in line] == [
        ["--number", "N"],
        ["--path", "FILE"],
        ["--colour", "red|blue"],
    ]
    assert "<" not in shown


def test_commands_below_a_command_are_made_plainly_too():
    app = typer.Typer()
    app.add_typer(sample(), name="below")
    group = with_plain_types(typer.main.get_command(app))
    (below,) = group.commands.values()
    commands = getattr(below, "commands", {"command": below}).values()
    assert all(
        isinstance(param._runtime_param, PlainParameter)
        for command in commands
        for param in command.params
        if param.name != "help"
    )


def test_a_plain_command_imports_neither_pydantic_nor_rich():
    code = (
        "import sys; from kcluster.app import main; code = main(['topic', 'list', '-b', '127.0.0.1:1', '-o', 'json']);"
        "print(code, [name for name in ('pydantic', 'rich', 'yaml', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "6 []"
