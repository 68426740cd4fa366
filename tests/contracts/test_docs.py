"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from kcluster.app import COMMANDS


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", Path(__file__).parents[2] / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_current(generate: ModuleType) -> None:
    for page, text in generate.pages().items():
        assert page.read_text() == text, f"{page.name} is old: run ./run docs and read the diff"


@pytest.mark.parametrize("word", COMMANDS)
def test_every_command_explains_itself_and_its_subcommands(generate: ModuleType, word: str) -> None:
    for path in generate.invocations(word):
        told = generate.help_of(*path)
        assert told.startswith(f"Usage: kcluster {' '.join(path)}")
        assert len(told.split("\n\n")[1].strip()) > 10, f"{' '.join(path)} has no help sentence"


@pytest.mark.parametrize("word", COMMANDS)
def test_every_command_stands_in_the_readme_table(project: Path, word: str) -> None:
    assert f"| `{word}" in (project / "README.md").read_text()


def test_the_readme_names_every_exit_code(project: Path) -> None:
    from kcluster.errors import ExitCode

    readme = (project / "README.md").read_text()
    assert [code for code in ExitCode if f"| {code.value} |" not in readme] == []
