"""Fixtures for clusters on real hosts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kcluster.clients.spark import connector
from kcluster.model.release import Release
from kcluster.releases.fetch import fetch
from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet, fleet_on, served
from tests.hosts.spark import TRIO_SPARK, sparks
from tests.lab import Image, own_lab
from tests.lab.conftest import fresh_name, lab, lab_image, trio

__all__ = ["TRIO_KRAFT", "TRIO_SPARK", "TRIO_ZK", "Fleet", "NewFleet", "lab", "lab_image", "sparks", "trio"]


@pytest.fixture(scope="session", autouse=True)
def releases() -> None:
    """Fetch what goes to hosts while the network is there: a lab has no way out, and so has no command inside of it."""
    for version in ("3.9.2", "4.2.0"):
        fetch(Release(version), print)
    connector.kafka_jars(print)


@pytest.fixture
def fleet(lab_image: Image, tmp_path: Path) -> Iterator[NewFleet]:
    """Make fresh hosts and an inventory for them: `fleet(3, TRIO_ZK)`."""
    with ExitStack() as stack:

        def make(size: int, cluster: str) -> Fleet:
            lab = stack.enter_context(own_lab(fresh_name(), size, lab_image))
            return fleet_on(lab, cluster, tmp_path / lab.name)

        yield make


@pytest.fixture(scope="session")
def living(lab_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Three hosts on which TRIO_ZK runs: each test leaves it healthy."""
    with own_lab(fresh_name(), 3, lab_image) as lab:
        fleet = fleet_on(lab, TRIO_ZK, tmp_path_factory.mktemp("living"))
        fleet.ansible("provision.yml")
        served(fleet)
        yield fleet
