"""The lanes of the suite, and how `./run test` shares its tests out between workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import loopback

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

ON_THE_NET = ("tests/integration/test_release.py", "tests/integration/test_wheel.py")
"""What starts no cluster and may have to fetch."""

EACH_FOR_ITSELF = tuple(
    f"tests/hosts/test_{name}.py" for name in ("faults", "gates", "molecule", "plan", "restart", "shapes", "stages")
)
"""Where each test has hosts of its own."""

LIVE, SPARK, KILLED = "the live cluster", "Spark and a KRaft cluster", "killed jobs and a KRaft cluster"

SHARED: Mapping[str, str] = {
    "tests/spark/test_spark_submit.py": LIVE,
    "tests/spark/test_exactly_once.py": KILLED,
    "tests/spark/test_transactional_sinks.py": KILLED,
    "tests/spark/": SPARK,
    "tests/integration/test_job_security.py": "",
    "tests/integration/test_permission.py": "",
    "tests/integration/test_release.py": "",
    "tests/integration/test_render.py": "",
    "tests/integration/test_tour.py": "",
    "tests/integration/test_up.py": "",
    "tests/integration/test_wheel.py": "",
    "tests/integration/": LIVE,
    "tests/hosts/test_spark": "Spark on hosts",
    **dict.fromkeys(
        (f"tests/hosts/test_{name}.py" for name in ("health", "interrupts", "logs", "status")), "the living hosts"
    ),
}
"""What files share that is dear to make; the first prefix that fits counts."""

MINUTES: Mapping[str, float] = {
    KILLED: 11.5,
    SPARK: 9.0,
    LIVE: 7.0,
    "Spark on hosts": 5.5,
    "the living hosts": 5.2,
    "tests/hosts/test_roles.py": 5.0,
    "tests/hosts/test_staging.py": 4.1,
    "tests/hosts/test_provision.py": 3.4,
    "tests/hosts/test_destroy.py": 3.2,
    "tests/hosts/test_stages.py::test_the_ensemble_grows_and_shrinks_by_one_server_at_a_time": 3.0,
    "tests/hosts/test_molecule.py::test_a_scenario_holds[spark]": 2.6,
    "tests/hosts/test_release_role.py": 2.5,
}
"""Measured on two cores, for what takes longest: it begins first, so that all workers end at about the same time."""

FOLDERS = ("hosts", "spark", "integration", "lab", "contracts", "golden", "unit")
"""In this order: what is left for the end must be short, or one worker waits for the other."""


def lane(item: pytest.Item) -> str:
    """The lane of a test."""
    return LANES[PurePath(item.nodeid).parts[1]]


def on_own_loopback(item: pytest.Item) -> bool:
    """Whether a test has to do with clusters on this machine."""
    return lane(item) in ("cluster", "spark") and not item.nodeid.startswith(ON_THE_NET)


def group(nodeid: str) -> str:
    """The name that tests share which stay together on one worker."""
    file = nodeid.partition("::")[0]
    if file in EACH_FOR_ITSELF:
        return nodeid
    if not loopback.allowed() and file.startswith(("tests/integration/", "tests/spark/")):
        return "clusters on this machine"
    shared = next((shared for prefix, shared in SHARED.items() if file.startswith(prefix)), "")
    if shared == LIVE and "kraft" in nodeid:  # few, and the tests of Spark have such a cluster
        return SPARK
    return shared or file


def rank(item: pytest.Item) -> tuple[float, int, str]:
    """The place of a test in a run: the longest groups first, then the folders from the dearest to the cheapest."""
    name = group(item.nodeid)
    return -MINUTES.get(name, 0), FOLDERS.index(PurePath(item.nodeid).parts[1]), name


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A scheduler that gives a worker whole groups."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """The scheduler of a run."""
    return Together(config, log)
