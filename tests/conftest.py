"""What all tests share: renewing stored outputs, and a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clusters import kraft, live, own

__all__ = ["kraft", "live", "own"]  # fixtures that tests of several folders share


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="rewrite the stored expected outputs instead of comparing")


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
