"""What all tests share: renewing stored outputs, and a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clusters import kraft, live, own

__all__ = ["kraft", "live", "own"]  # fixtures that tests of several folders share


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="rewrite the stored expected outputs instead of comparing")


SLOW_FIRST = ("spark", "hosts", "lab", "integration")
"""The folders with the longest tests: what is left for the end must be short, or one worker waits for the other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`./run test` has two workers: a file's tests stay with one of them, unless the file is marked `apart`."""
    folders = [*SLOW_FIRST, "contracts", "golden", "unit"]
    items.sort(key=lambda item: folders.index(item.path.relative_to(Path(__file__).parent).parts[0]))
    for item in items:
        if not item.get_closest_marker("apart"):
            item.add_marker(pytest.mark.xdist_group(str(item.path)))


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


@pytest.fixture(scope="session")
def project() -> Path:
    """The checkout."""
    return Path(__file__).parent.parent
