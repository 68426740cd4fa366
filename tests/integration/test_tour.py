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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with started(tmp_path_factory.mktemp("tour"), "local", "-i", "inventories/local") as cluster:
        yield cluster


def lines_of_the_tour(project: Path) -> list[list[str]]:
    """The commands of the tour's two blocks, without their comments."""
    tour = re.search(r"^## Tour\n(.*?)^## ", (project / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert tour
    blocks = re.findall(r"(?:^    .*\n)+", tour[1], re.MULTILINE)
    return [[line.split("  #")[0].strip() for line in block.splitlines()] for block in blocks]


def test_the_tour_works_as_written(project: Path, home: Live, tmp_path: Path) -> None:
    everyday, own = lines_of_the_tour(project)
    assert len(everyday) >= 8
    assert len(own) >= 4
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in [*everyday, *own, "kcluster down --name staging --delete-data --confirm staging"]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=tmp_path,
            env={**home.env, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        if line.startswith("kcluster consume"):
            assert done.stdout == "truck-7\t52.1,4.3\n"
