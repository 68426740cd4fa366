"""Fixtures for clusters on real hosts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fetched import fetch_all
from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet, fleet_on
from tests.hosts.provisioned import provisioned
from tests.hosts.spark import TRIO_SPARK, sparks
from tests.lab import Image, own_lab
from tests.lab.conftest import lab, lab_image, trio
from tests.lab.lab import fresh_name
from tests.shared import shared

__all__ = ["TRIO_KRAFT", "TRIO_SPARK", "TRIO_ZK", "Fleet", "NewFleet", "lab", "lab_image", "sparks", "trio"]


@pytest.fixture(scope="session", autouse=True)
def releases() -> None:
    """Fetch what goes to hosts while the network is there: a lab has no way out, and so has no command inside of it."""
    fetch_all()


@pytest.fixture
def fleet(lab_image: Image, tmp_path: Path) -> Iterator[NewFleet]:
    """Make fresh hosts and an inventory for them: `fleet(3, TRIO_ZK)`."""
    with ExitStack() as stack:

        def make(size: int, cluster: str) -> Fleet:
            lab = stack.enter_context(own_lab(fresh_name(), size, lab_image))
            return fleet_on(lab, cluster, tmp_path / lab.name)

        yield make


@pytest.fixture
def running(lab_image: Image, tmp_path: Path) -> Iterator[NewFleet]:
    """Make hosts on which a cluster runs: `running(3, TRIO_ZK)`."""
    with ExitStack() as stack:
        yield lambda size, cluster: stack.enter_context(provisioned(size, cluster, lab_image, tmp_path))


@pytest.fixture
def living(lab_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Three hosts on which TRIO_ZK runs: each test leaves it healthy."""
    return shared("living", lambda: provisioned(3, TRIO_ZK, lab_image, tmp_path_factory.mktemp("living")))
