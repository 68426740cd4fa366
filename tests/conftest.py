"""What all tests share: renewing stored outputs, and a home of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.children import take_signals
from tests.clusters import kraft, live, own

__all__ = ["kraft", "live", "own"]  # fixtures that tests of several folders share


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="rewrite the stored expected outputs instead of comparing")


def pytest_configure() -> None:
    """A test's Spark lives for seconds, so the second compiler of its JVM never pays: a third of the CPU less."""
    take_signals()
    os.environ["SPARK_SUBMIT_OPTS"] = "-XX:TieredStopAtLevel=1"


FOLDERS = ("spark", "integration", "hosts", "lab", "contracts", "golden", "unit")
"""In this order: what is left for the end must be short, or one worker waits for the other."""

EACH_FOR_ITSELF = [f"tests/hosts/test_{name}.py" for name in ("faults", "molecule", "restart", "shapes")]
"""Where each test has hosts of its own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long tests first."""
    items.sort(key=lambda item: FOLDERS.index(item.path.relative_to(Path(__file__).parent).parts[0]))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """How `./run test` shares the tests out between its workers."""
    return Together(config, log)


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Tests that must not run at the same time, or share what is dear to make, stay with one worker."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file.startswith(("tests/spark/", "tests/integration/")):
            return "clusters on this machine"  # one that is down may find its ports taken by another worker's
        if file.startswith("tests/hosts/test_spark"):
            return "spark on hosts"
        if file in EACH_FOR_ITSELF:
            return nodeid
        return file


@pytest.fixture(scope="session")
def renew(request: pytest.FixtureRequest) -> bool:
    """Whether stored outputs are to be rewritten."""
    return bool(request.config.getoption("--renew"))


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test touches the user's own clusters or sees the user's settings."""
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    monkeypatch.delenv("KCLUSTER_INVENTORY", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("kcluster.model.properties._VAULTED", set())  # what another test's inventory had vaulted


@pytest.fixture(scope="session")
def project() -> Path:
    """The checkout."""
    return Path(__file__).parent.parent
