"""What people ask hosts many times a day: `check`, `status`, `health` on six, as a command and in one process."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from tests.bench.bench_provision import bare, spent
from tests.hosts.fleet import TRIO_ZK

RUNS = 7
COLD, KEPT = 1.5, 0.5
"""Seconds that an answer may take: with connections to be opened, and with connections that are there."""

SIX = TRIO_ZK.replace(
    "{h1: {kafka_broker_id: 1}, h2: {kafka_broker_id: 2}, h3: {kafka_broker_id: 3}}",
    "{h4: {kafka_broker_id: 1}, h5: {kafka_broker_id: 2}, h6: {kafka_broker_id: 3}}",
)
KEEPING = """
import json, sys, time
from pathlib import Path
from kcluster.clients.ssh import Connections
from kcluster.context import Target
from kcluster.operations import health, status
from kcluster.operations.check import check

target, runs = Target(Path(sys.argv[1])), int(sys.argv[2])
with Connections(target.logins) as hosts:
    asked = {
        "check": lambda: check(target.cluster, hosts, lambda _: None).ok,
        "status": lambda: not status.over(hosts, target.cluster, "").exit_code,
        "health": lambda: health.examine(target.kafka, target.cluster, hosts).ok,
    }
    spent = {name: [] for name in asked}
    for _ in range(runs + 1):
        for name, ask in asked.items():
            begin = time.perf_counter()
            assert ask(), name
            spent[name].append(time.perf_counter() - begin)
print(json.dumps({name: seconds[1:] for name, seconds in spent.items()}))
"""


def run() -> list[tuple[str, float, float, float]]:
    """Two rows for each command, on three ZooKeeper servers and three brokers that run."""
    with tempfile.TemporaryDirectory() as name, bare(6, SIX, Path(name, "six")) as fleet:
        fleet.run("provision", "-i", str(fleet.inventory), "--yes")
        words = ("check", "status", "health")
        cold = {word: statistics.median([spent(fleet, word) for _ in range(RUNS)]) for word in words}
        kept = json.loads(fleet.python(KEEPING, str(fleet.inventory), str(RUNS)).stdout)
    return [
        *((f"{word} of 6 hosts (s) / limit", cold[word], COLD, 1.0) for word in words),
        *(
            (f"{word} of 6 hosts, connections kept (s) / limit", statistics.median(kept[word]), KEPT, 1.0)
            for word in words
        ),
    ]
