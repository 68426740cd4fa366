"""`kcluster provision` on three bare hosts beside the floor, a second run that changes nothing, and what crosses."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.bench.floor import floor
from tests.hosts.fleet import TRIO_ZK, Fleet, fleet_on
from tests.lab import base_image, own_lab

RUNS = 3
SECOND, PLAN = 5.0, 3.0
"""Seconds that an unchanged provision and a plan may take."""


def run() -> list[tuple[str, float, float, float]]:
    """The first run in turn with the floor, each on fresh hosts; the rest on the hosts of the first run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tarball, size = _release(folder)
        _by_hand(folder / "warm-up", tarball)
        ours, hand, rest = [], [], []
        for number in range(RUNS):
            first, later = _ours(folder / f"ours-{number}", size)
            ours.append(first)
            rest.append(later)
            hand.append(_by_hand(folder / f"hand-{number}", tarball))
    first_row = ("provision 3 bare hosts / ssh script (s)", statistics.median(ours), statistics.median(hand), 2.0)
    return [first_row, *(_median(rows) for rows in zip(*rest, strict=True))]


def _median(rows: tuple[tuple[str, float, float, float], ...]) -> tuple[str, float, float, float]:
    what, _, yardstick, limit = rows[0]
    return what, statistics.median(row[1] for row in rows), yardstick, limit


@contextmanager
def bare(size: int, cluster: str, folder: Path, environment: Mapping[str, str] = {}) -> Iterator[Fleet]:
    """Fresh hosts and an inventory for them."""
    with own_lab(f"bench-{folder.name}", size, base_image()) as lab:
        yield fleet_on(lab, cluster, folder, environment)


def spent(fleet: Fleet, *words: str) -> float:
    """How long a command of the CLI takes, as a user waits for it."""
    begin = time.perf_counter()
    fleet.run(*words, "-i", str(fleet.inventory))
    return time.perf_counter() - begin


def _release(folder: Path) -> tuple[Path, int]:
    """The release as people have it, and how many bytes of it kcluster sends; provisioned once, so that it is kept."""
    with bare(3, TRIO_ZK, folder / "release") as fleet:
        fleet.run("release", "bundle", "3.9.2", str(folder / "release.tgz"))
        fleet.run("provision", "-i", str(fleet.inventory), "--yes")
    from kcluster.releases import tarball

    (kept,) = tarball.folder().glob("*-3.9.2.tar")
    return folder / "release.tgz", kept.stat().st_size


def _by_hand(folder: Path, tarball: Path) -> float:
    with bare(3, TRIO_ZK, folder) as fleet:
        return floor(fleet, tarball, folder / "rendered")


def _ours(folder: Path, size: int) -> tuple[float, list[tuple[str, float, float, float]]]:
    """The seconds of a first run, and the rows of what comes after it."""
    with bare(3, TRIO_ZK, folder) as fleet:
        before = _received(fleet)
        first = spent(fleet, "provision", "--yes")
        between = _received(fleet)
        second = spent(fleet, "provision", "--yes")
        after = _received(fleet)
        plan = spent(fleet, "plan")
    return first, [
        ("provision again, nothing to change (s) / limit", second, SECOND, 1.0),
        ("plan (s) / limit", plan, PLAN, 1.0),
        ("bytes to a host / release, first run (MB)", (between - before) / 1e6, size / 1e6, 1.1),
        ("bytes to a host / release, second run (MB)", (after - between) / 1e6, size / 1e6, 0.05),
    ]


def _received(fleet: Fleet) -> int:
    """What has gone into the cable of a host so far: its part of the cluster's own talk is in it."""
    cable = fleet.lab.host("h1").cable
    command = ["ip", "-n", cable.network.namespace, "-s", "-j", "link", "show", cable.port]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return int(told[0]["stats64"]["tx"]["bytes"])
