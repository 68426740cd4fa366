"""Words of the command line as values: the same as Typer's, without its library."""

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer

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
    "words", [["--colour", "green"], ["--number", "0"], ["--number", "x"], ["--there", "no-such"], []]
)
def test_wrong_values_are_refused_in_typers_words(words):
    said = []
    for command in (with_plain_types(typer.main.get_command(sample())), typer.main.get_command(sample())):
        with pytest.raises(typer.TyperException) as caught:
            command.main([*words, *(["x"] if words else [])], standalone_mode=False)
        said.append(caught.value.format_message())
    assert said[0] == said[1]


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
    assert done.stdout.strip() == "6 []"
