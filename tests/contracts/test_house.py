"""The rules of the house: one word, one file, one test; and nothing heavy before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kcluster.app import COMMANDS

HEAVY = ("confluent_kafka", "paramiko", "yaml", "jinja2", "rich", "ansible", "socket")


@pytest.mark.parametrize("word", COMMANDS)
def test_a_commands_word_names_its_module_its_operation_and_its_test(project: Path, word: str) -> None:
    word = word.replace("-", "_")
    assert (project / f"cli/kcluster/commands/{word}.py").is_file()
    operations = project / "cli/kcluster/operations"
    assert (operations / f"{word}.py").is_file() or (operations / word / "__init__.py").is_file()
    unit, real, hosts = (project / "tests" / folder for folder in ("unit/operations", "integration", "hosts"))
    test = f"test_{word}.py"
    assert any(path.exists() for path in (unit / test, unit / word, real / test, hosts / test))


def test_the_table_of_contents_names_every_command_module(project: Path) -> None:
    modules = {path.stem for path in (project / "cli/kcluster/commands").glob("*.py")} - {"__init__", "options"}
    assert modules == {word.replace("-", "_") for word in COMMANDS}


def test_the_first_sentence_of_a_commands_help_is_the_one_in_the_table_of_contents() -> None:
    from kcluster.app import app, typer

    root = typer.main.get_command(app)
    sentences = {word: (root.get_command(None, word).help or "").split("\n\n")[0] for word in COMMANDS}  # type: ignore[attr-defined]
    assert {word: " ".join(sentence.split()) for word, sentence in sentences.items()} == COMMANDS


def test_help_imports_nothing_heavy() -> None:
    code = (
        f"import sys; from kcluster.app import main; main(['--help']); print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_module_of_the_project_outgrows_a_reader(project: Path) -> None:
    long = {
        str(path.relative_to(project)): lines
        for folder in ("cli", "plugins", "spark_jobs", "tests", "docs")
        for path in (project / folder).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 300
    }
    assert long == {}
