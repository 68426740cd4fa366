"""What all tests share: renewing stored outputs, and a home of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import lanes, leftovers, shared
from tests.children import take_signals
from tests.clusters import kraft, live, own
from tests.fetched import fetch_all
from tests.loopback import own_loopback

__all__ = ["kraft", "live", "own"]  # fixtures that tests of several folders share


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="rewrite the stored expected outputs instead of comparing")


def pytest_configure() -> None:
    """Tests take what a terminal sends."""
    take_signals()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The marker of each test's lane; the long tests first."""
    for item in items:
        item.add_marker(lanes.lane(item))
    items.sort(key=lanes.rank)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Clusters on this machine have a network for each worker; what they need from elsewhere is there before."""
    shared.begin(lanes.group(item.nodeid))
    if not lanes.on_own_loopback(item):
        return (yield)
    fetch_all()
    with own_loopback():
        return (yield)


def pytest_sessionfinish() -> None:
    """Nothing that tests shared outlives them."""
    shared.end()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """How `./run test` shares the tests out between its workers."""
    return lanes.scheduler(config, log)


@pytest.fixture(scope="session")
def renew(request: pytest.FixtureRequest) -> bool:
    """Whether stored outputs are to be rewritten."""
    return bool(request.config.getoption("--renew"))


@pytest.fixture(scope="session", autouse=True)
def nothing_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What killed runs left running ends, and what this one would leave can be found."""
    leftovers.reap()
    with leftovers.noted(tmp_path_factory.getbasetemp()):
        yield


@pytest.fixture(scope="session", autouse=True)
def small_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A test's Spark lives for seconds, so the second compiler of its JVM never pays: a third of the CPU less.

    Drivers that are killed leave their temporary files, which go with this run.
    """
    folder = tmp_path_factory.mktemp("temporary-files-of-spark")
    os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={folder}"
    os.environ["SPARK_LOCAL_DIRS"] = str(folder)
    yield
    shutil.rmtree(folder, ignore_errors=True)  # the newest of a JVM that still ends may come and go


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test touches the user's own clusters or sees the user's settings."""
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    monkeypatch.delenv("KCLUSTER_INVENTORY", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("kcluster.config.property_tables._VAULTED", set())  # what another test's inventory had vaulted


@pytest.fixture(scope="session")
def project() -> Path:
    """The checkout."""
    return Path(__file__).parent.parent
