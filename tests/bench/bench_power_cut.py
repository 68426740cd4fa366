"""The longest pause of acknowledgements when the power of a host goes, over all partitions, beside what is promised."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.bench.bench_provision import bare
from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet
from tests.hosts.under_load import under_load
from tests.lab import faults
from tests.lab.host import Host
from tests.lab.machine import wait_until

PROMISED = 7.0
"""Seconds."""
VICTIMS = ("leader", "controller", "leader", "controller", "other")
"""Whose host is cut off: that of the metadata's leader, that of the broker that is controller, one without either."""
PATIENT = ("socket.timeout.ms=4000", "topic.metadata.refresh.interval.ms=10000", "reconnect.backoff.max.ms=1000")
"""What docs/hosts.md recommends for librdkafka."""


def run() -> list[tuple[str, float, float, float]]:
    """Five cuts in each mode."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            row
            for mode, inventory in (("ZooKeeper", TRIO_ZK), ("KRaft", TRIO_KRAFT))
            for row in rows_of(mode, inventory, Path(folder, mode.lower()))
        ]


def rows_of(mode: str, inventory: str, folder: Path) -> list[tuple[str, float, float, float]]:
    """A row for each cut; every record that was acknowledged is still there."""
    rows = []
    with bare(3, inventory, folder) as fleet:
        fleet.run("provision", "-i", str(fleet.inventory), "--yes")
        for number, victim in enumerate(VICTIMS):
            host = host_of(victim, nodes(fleet))
            with under_load(fleet, fleet.bootstrap, f"cut-{number}", *PATIENT, per_second=500, partitions=12) as load:
                fleet.lab.ssh(host, "sleep 3")  # some seconds of an undisturbed load
                faults.power_cut(fleet.lab.host(host))
                fleet.lab.ssh(next(one.name for one in fleet.lab.hosts if one.name != host), "sleep 20")
            assert not load.lost, f"{len(load.lost)} acknowledged records are gone"
            print(f"{mode}, {victim}'s host: {load.gap} s, the slowest partition {load.slowest} s", flush=True)
            rows.append((f"{mode}: pause after a power cut of the {victim}'s host (s)", load.gap, PROMISED, 1.0))
            faults.boot(fleet.lab.host(host))
            wait_until(lambda: well(fleet), 120, "every replica is in sync")
        for host in fleet.lab.hosts:
            became = "expelled" if expelled(fleet, host) else "kept"
            print(f"{mode}, the JVM of {host.name} stood still for 5 s: {became}", flush=True)
    return rows


def expelled(fleet: Fleet, host: Host) -> bool:
    """Whether a broker whose process stands still for five seconds is taken for lost."""
    others = ",".join(f"{other.address}:9092" for other in fleet.lab.hosts if other != host)
    process = fleet.lab.ssh(host.name, "systemctl show kafka -p MainPID --value").strip()
    fleet.lab.ssh(host.name, f"systemd-run --quiet sh -c 'kill -STOP {process}; sleep 5; kill -CONT {process}'")
    fewest = int(fleet.python(FEWEST, others).stdout)
    wait_until(lambda: well(fleet), 120, "every replica is in sync")
    return fewest < len(fleet.lab.hosts)


FEWEST = """
import sys, time
from confluent_kafka.admin import AdminClient
admin, until, fewest = AdminClient({"bootstrap.servers": sys.argv[1]}), time.monotonic() + 7, 9
while time.monotonic() < until:
    fewest = min(fewest, len(admin.list_topics(timeout=9).brokers))
    time.sleep(0.05)
print(fewest)
"""
"""The smallest number of brokers that the metadata had within seven seconds."""


def nodes(fleet: Fleet) -> list[Mapping[str, str]]:
    found: list[Mapping[str, str]] = json.loads(fleet.run("status", "-i", str(fleet.inventory), "-o", "json").stdout)[
        "nodes"
    ]
    return found


def host_of(victim: str, found: list[Mapping[str, str]]) -> str:
    """The host of a node with this role; with "other" one whose nodes have none."""
    hosts = {node.get("role", ""): node["host"] for node in found}
    with_role = {hosts[role] for role in ("leader", "controller") if role in hosts}
    others = sorted({node["host"] for node in found} - with_role)
    return hosts.get(victim) or (others[0] if victim == "other" else hosts["leader"])


def well(fleet: Fleet) -> bool:
    return fleet.run("health", "-i", str(fleet.inventory), check=False).returncode == 0
