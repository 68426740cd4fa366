"""Real clusters for tests: one of each kind for a group of tests, and private ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kcluster import local
from tests.loopback import on_loopback
from tests.shared import shared


@dataclass(frozen=True)
class Live:
    """A running cluster, and the real CLI aimed at its home."""

    name: str
    home: Path

    @property
    def bootstrap(self) -> str:
        """The addresses of its brokers."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KCLUSTER_HOME", str(self.home))
            return local.running(self.name).bootstrap

    def command(self, *args: str) -> list[str]:
        """The command line of the real CLI."""
        return [sys.executable, "-m", "kcluster", *args]

    @property
    def env(self) -> dict[str, str]:
        """The environment in which the CLI finds this cluster."""
        return {**os.environ, "KCLUSTER_HOME": str(self.home)}

    def run(self, *args: str, input: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `kcluster` as a user would, as a process of its own."""
        done = subprocess.run(
            self.command(*args), input=input, capture_output=True, text=True, env=self.env, timeout=400
        )
        assert not check or done.returncode == 0, f"{args} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


@contextmanager
def started(home: Path, name: str, *how: str) -> Iterator[Live]:
    """A cluster made by `kcluster up`, ended and removed afterwards."""
    cluster = Live(name, home)
    try:
        cluster.run("up", "--name", name, *how)
        yield cluster
    finally:
        cluster.run("down", "--name", name, "--delete-data", "--confirm", name, check=False)


@pytest.fixture
def live(tmp_path_factory: pytest.TempPathFactory) -> Live:
    """Three ZooKeeper servers and three brokers, shared by a group of tests: use topic names of your own."""
    return shared("live", lambda: on_loopback(started(tmp_path_factory.mktemp("live"), "live")))


@pytest.fixture
def kraft(tmp_path_factory: pytest.TempPathFactory) -> Live:
    """Three controllers and three brokers, shared by a group of tests: use topic names of your own."""
    return shared("kraft", lambda: on_loopback(started(tmp_path_factory.mktemp("kraft"), "kraft", "--kraft")))


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[..., Live]]:
    """A private cluster for tests that break it: `own("--brokers", "1", "--zookeepers", "1")`."""
    with ExitStack() as clusters:
        yield lambda *how: clusters.enter_context(started(tmp_path / "home", "own", *how))
