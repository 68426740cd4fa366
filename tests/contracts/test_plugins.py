"""What plugins may import, and what hosts may be asked to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ON_HOSTS = ("modules", "module_utils")
HERE = ("action", "callback", "plugin_utils")
LIBRARY = "ansible_collections.kcluster.kafka.plugins.module_utils"


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def sources(project: Path, folders: tuple[str, ...]) -> list[Path]:
    return [path for folder in folders for path in sorted((project / "plugins" / folder).glob("*.py"))]


def test_plugins_import_nothing_of_the_package_but_its_facade(project: Path) -> None:
    names = {(path.name, name) for path in sources(project, HERE) for name in imported(path) if "kcluster." in name}
    own = "ansible_collections.kcluster.kafka.plugins."
    assert {found for found in names if not found[1].startswith(("kcluster.ansible_api", own))} == set()


def test_what_runs_on_hosts_imports_nothing_of_the_package(project: Path) -> None:
    names = {(path.name, name) for path in sources(project, ON_HOSTS) for name in imported(path)}
    assert {found for found in names if found[1].startswith("kcluster") or "plugin_utils" in found[1]} == set()


@pytest.mark.parametrize("folder", ON_HOSTS)
def test_what_runs_on_hosts_runs_on_the_oldest_python_that_is_promised(project: Path, folder: str) -> None:
    """The grammar, and aliases that are evaluated: `dict[...]` needs Python 3.9 outside of annotations."""
    for path in sources(project, (folder,)):
        tree = ast.parse(path.read_text(), feature_version=(3, 8))
        assigned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        generic = [each for each in assigned if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)]
        assert [each.value.id for each in generic if each.value.id in ("dict", "list", "tuple", "set", "type")] == []  # type: ignore[attr-defined]
