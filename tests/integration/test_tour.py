"""The README's tour, typed as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import Live, started

NO_HOSTS = ("init", "validate", "render")
"""The first commands for real hosts need none; the others are typed on hosts of the lab, see tests/hosts."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with started(tmp_path_factory.mktemp("tour"), "local", "-i", "inventories/local") as cluster:
        yield cluster


def commands(project: Path, heading: str) -> list[str]:
    """The commands under a heading of the README, without their comments."""
    section = re.search(rf"^## {heading}\n(.*?)^## ", (project / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert section
    lines = [line.split("  #")[0].strip() for line in re.findall(r"^    (.*)$", section[1], re.MULTILINE)]
    return [line for line in lines if line.startswith(("kcluster", "echo"))]


def test_the_tour_works_as_written(project: Path, home: Live, tmp_path: Path) -> None:
    everyday = commands(project, "Start on this machine")
    own = [line for line in commands(project, "Real hosts, with the CLI") if line.split()[1] in NO_HOSTS]
    assert len(everyday) >= 6
    assert len(own) == len(NO_HOSTS)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    last = ["kcluster up -i inventories/prod", "kcluster down --name prod --delete-data --confirm prod"]
    for line in [*everyday, *own, *last]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=tmp_path,
            env={**home.env, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        if line.startswith("kcluster consume"):
            assert done.stdout == "truck-7\t52.1,4.3\n"
