"""Names and words: each class once, no module name three times, and only the glossary's words in what users read."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCES = ("cli/kcluster", "spark_jobs", "plugins")
REQUIRED_BY_ANSIBLE = {"ActionModule", "CallbackModule"}
BANNED = (
    r"keepers?",
    r"(the )?proof",
    r"(is|was|been) proven",
    r"doors?",
    r"story|stories",
    r"(was|were) told",
    r"(does|do) not say",
    r"slips?",
    r"doubts?",
    r"wish(es)?",
    r"knock(s|ed|ing)?",
    r"throw-?away",
    r"hand-?over",
    r"somebody|whoever",
    r"(a )?word of kcluster",
)
"""Words that the glossary replaces, as whole words; `keepers` as a JSON key or record field is no prose."""
_BANNED = re.compile(rf"(?<![\w.`_-])({'|'.join(BANNED)})(?![\w`_=:-])", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[\w./%-]*")
_CHOICES = re.compile(r"choices: \[.*\]")
"""Values of a module's arguments, which playbooks use: names, no prose."""


def modules(project: Path) -> list[Path]:
    """Every Python module of the package, the jobs and the collection."""
    return [path for source in SOURCES for path in sorted((project / source).rglob("*.py"))]


def test_no_class_name_is_defined_twice(project: Path) -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules(project):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name not in REQUIRED_BY_ANSIBLE:
                places[node.name].append(f"{path.relative_to(project)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_module_name_stands_three_times(project: Path) -> None:
    commands = {path.stem for path in (project / "cli/kcluster/commands").glob("*.py")}
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules(project):
        action_of_a_module = path.parent == project / "plugins/action"  # Ansible wants both under one name
        if path.stem not in commands | {"__init__"} and not action_of_a_module:
            places[path.stem].append(str(path.relative_to(project)))
    assert {name: where for name, where in places.items() if len(where) > 2} == {}


def test_what_users_read_has_no_banned_word(project: Path) -> None:
    found = [
        f"{place}: {match[0]!r} in {text.strip()!r}"
        for place, text in (*_messages(project), *_documentation(project))
        for match in _BANNED.finditer(text)
    ]
    assert not found, "\n".join(found)


def _messages(project: Path) -> Iterator[tuple[str, str]]:
    """The string literals of the sources that are prose, and the help of the commands."""
    for path in modules(project):
        tree = ast.parse(path.read_text())
        in_commands = path.parent.name == "commands"
        skipped = set() if in_commands else set(_docstrings(tree))
        for node in ast.walk(tree):
            value = node.value if isinstance(node, ast.Constant) and id(node) not in skipped else None
            if isinstance(value, str) and not _IDENTIFIER.fullmatch(value):
                yield f"{path.relative_to(project)}:{getattr(node, 'lineno', 0)}", _CHOICES.sub("", value)


def _docstrings(tree: ast.Module) -> Iterator[int]:
    """Strings that stand alone: docstrings, and those below a field or a constant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def _documentation(project: Path) -> Iterator[tuple[str, str]]:
    """The lines of the README and of the pages in docs/, outside of blocks of code."""
    for path in [project / "README.md", *sorted((project / "docs").glob("*.md"))]:
        code = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code ^= line.startswith("```")
            if not code or path.name == "commands.md":
                yield f"{path.relative_to(project)}:{number}", line
