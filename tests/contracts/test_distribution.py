"""The name on the Python package index: `kcluster` there is another project's, so nobody is sent to it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

OF_OTHERS = "kcluster"
ADVICE = re.compile(r"\b(pip3?|pipx|uv)\b[^`\n;]*\binstall\b[^`\n;]*(?<![\w./-])kcluster(?![\w./])|\bkcluster\[")
"""Installing this project, or an extra of it, by a name that an index would look up."""


def test_the_distribution_does_not_take_the_name_of_another_project(project: Path) -> None:
    described = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    assert described["name"] != OF_OTHERS
    assert [*described["scripts"]] == ["kcluster"]


def test_nobody_is_advised_to_install_another_project(project: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=project, capture_output=True, text=True, check=True).stdout
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in listed.split("\0")
        if (project / name).is_file() and project / name != Path(__file__)
        for number, line in enumerate((project / name).read_text(errors="replace").splitlines(), 1)
        if ADVICE.search(line)
    ]
    assert not found, "\n".join(found)
