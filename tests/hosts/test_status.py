"""`kcluster status` of a cluster on hosts: what runs, what does not, and who cannot be asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from kcluster.errors import ExitCode
from tests.hosts.fleet import Fleet
from tests.lab import faults


def nodes(fleet: Fleet, code: ExitCode) -> dict[str, dict[str, Any]]:
    """The rows by node, from a run that ended with this code."""
    done = fleet.run("status", "-i", str(fleet.inventory), "-o", "json", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return {node["node"]: node for node in json.loads(done.stdout)["nodes"]}


def test_each_node_is_a_row_whatever_became_of_it(living: Fleet) -> None:
    found = nodes(living, ExitCode.DONE)
    assert Counter(node["state"] for node in found.values()) == {"running": 6}
    assert Counter(node["role"] for name, node in found.items() if "zookeeper" in name) == {"leader": 1, "follower": 2}
    assert Counter(node["role"] for name, node in found.items() if "broker" in name) == {"controller": 1, "": 2}
    assert all(node["at_boot"] and node["pid"] and node["memory_bytes"] > 10_000_000 for node in found.values())
    assert not any(node["restart_needed"] or node["restarts"] for node in found.values())

    living.lab.ssh("h1", "echo 'queued.max.requests=600' >>/etc/kafka/server.properties")
    assert [name for name, node in nodes(living, ExitCode.DONE).items() if node["restart_needed"]] == ["broker-1"]
    assert "restart needed" in living.run("status", "-i", str(living.inventory)).stdout
    living.lab.ssh("h1", "sed -i '$d' /etc/kafka/server.properties")

    living.lab.ssh("h2", "systemctl stop kafka && systemctl disable -q kafka")
    stopped = nodes(living, ExitCode.NO)["broker-2"]
    assert (stopped["state"], stopped["at_boot"], stopped["pid"]) == ("stopped", False, None)

    faults.cable_out(living.lab.host("h3"))
    done = living.run("status", "-i", str(living.inventory), check=False)
    faults.cable_in(living.lab.host("h3"))
    living.lab.ssh("h2", "systemctl enable -q kafka && systemctl start kafka")
    assert done.returncode == ExitCode.UNREACHABLE
    states = {words[0]: words[4] for line in done.stdout.splitlines() if len(words := line.split()) > 4}
    assert (states["broker-1"], states["broker-2"], states["broker-3"]) == ("running", "stopped", "unreachable")
    assert "  try: " in done.stdout

    living.run("health", "-i", str(living.inventory), "--wait", "120s")
