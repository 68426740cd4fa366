"""The lanes of the suite, and how `./run test` shares its tests out between workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

LANES: Mapping[str, str] = {
    "unit": "unit",
    "golden": "unit",
    "contracts": "unit",
    "integration": "cluster",
    "hosts": "hosts",
    "lab": "hosts",
    "spark": "spark",
}
"""The lane of each folder of tests, which is also the marker of its tests."""

EACH_FOR_ITSELF = [f"tests/hosts/test_{name}.py" for name in ("faults", "molecule", "restart", "shapes")]
"""Where each test has hosts of its own."""


def lane(item: pytest.Item) -> str:
    """The lane of a test."""
    return LANES[PurePath(item.nodeid).parts[1]]


def group(nodeid: str) -> str:
    """The name that tests share which share what is dear to make, and so stay with one worker."""
    file = nodeid.partition("::")[0]
    if file.startswith(("tests/spark/", "tests/integration/")):
        return "clusters on this machine"  # one that is down may find its ports taken by another worker's
    if file.startswith("tests/hosts/test_spark"):
        return "spark on hosts"
    return nodeid if file in EACH_FOR_ITSELF else file


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A scheduler that gives a worker whole groups."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """The scheduler of a run."""
    return Together(config, log)
