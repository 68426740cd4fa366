"""A rolling restart of six brokers in three racks, rack by rack beside one by one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.bench_provision import bare, spent
from tests.bench.timing import in_turn
from tests.hosts.fleet import LIGHT
from tests.hosts.test_at_once import BROKERS, SIX_IN_RACKS

RUNS = 2
LIMIT = 0.9
"""Three turns beside six are a half where each host has its own cores; here two JVMs that start share two."""


def run() -> list[tuple[str, float, float, float]]:
    """Both in turn on the same hosts; the first of each is a warm-up."""
    with tempfile.TemporaryDirectory() as name, bare(6, SIX_IN_RACKS, Path(name, "racks"), LIGHT) as fleet:
        fleet.run("provision", "-i", str(fleet.inventory), "--yes")
        rack_by_rack, one_by_one = in_turn(
            lambda: spent(fleet, "restart", *BROKERS, "--at-once", "rack", "--yes"),
            lambda: spent(fleet, "restart", *BROKERS, "--yes"),
            RUNS,
        )
    return [("restart 6 brokers in 3 racks, --at-once rack / one by one (s)", rack_by_rack, one_by_one, LIMIT)]
