"""`kcluster status` of a cluster on hosts: what runs, what does not, and who cannot be asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from kcluster.errors import ExitCode
from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet
from tests.hosts.test_health import checks
from tests.lab import faults

MOVED = "    kafka_listeners: [{name: internal, port: 9192}]\n    %s\n  children:"
"""Other ports in an inventory: a listener's, and one of the metadata quorum."""


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
    states = {words[0]: words[2] for line in done.stdout.splitlines() if len(words := line.split()) > 2}
    assert (states["broker-1"], states["broker-2"], states["broker-3"]) == ("running", "stopped", "unreachable")
    assert "  try: " in done.stdout

    living.run("health", "-i", str(living.inventory), "--wait", "120s")


def with_ports_that_moved_in_the_inventory_the_truth_is_told(fleet: Fleet, cluster: str, moved: str, says: str) -> None:
    """Nothing was provisioned yet: every node runs where it ran, and the inventory has other ports."""
    before = nodes(fleet, ExitCode.DONE)
    fleet.write(cluster.replace("  children:", MOVED % moved, 1))
    found, shown = nodes(fleet, ExitCode.DONE), fleet.run("status", "-i", str(fleet.inventory))
    moves = checks(fleet, ExitCode.DONE)["inventory addresses"]
    smoke = fleet.run("smoke", "-i", str(fleet.inventory), check=False)
    fleet.lab.ssh("h2", "systemctl stop kafka")
    fleet.lab.ssh("h3", "systemctl kill --signal=STOP kafka")
    up = checks(fleet, ExitCode.NO)["nodes up"]
    fleet.lab.ssh("h3", "systemctl kill --signal=CONT kafka")
    fleet.lab.ssh("h2", "systemctl start kafka")
    fleet.write(cluster)
    assert {name: (node["address"], node["role"]) for name, node in found.items()} == {
        name: (node["address"], node["role"]) for name, node in before.items()
    }
    assert shown.stdout.count("the inventory has port 9192") == 3
    assert (moves["warning"], moves["subject"].partition("-")[0]) == (True, says)
    assert moves["detail"].startswith("0 of 6 run where the inventory has them; ")
    assert "broker-1 INTERNAL runs at 10.77.0.11:9092 PLAINTEXT, the inventory has 10.77.0.11:9192" in moves["detail"]
    assert (smoke.returncode, "broker-1 INTERNAL runs at 10.77.0.11:9092" in smoke.stderr) == (6, True), smoke.stderr
    assert up["detail"].startswith("4 of 6 answer; ")
    assert "broker-2 has no process" in up["detail"]
    assert "broker-3 has a process and does not answer: 10.77.0.13:9092 does not answer" in up["detail"]


def test_ports_that_moved_in_the_inventory_only(living: Fleet) -> None:
    with_ports_that_moved_in_the_inventory_the_truth_is_told(
        living, TRIO_ZK, "zookeeper_client_port: 2281", "zookeeper"
    )
    living.run("health", "-i", str(living.inventory), "--wait", "120s")


def stop_process(fleet: Fleet, *nodes: tuple[str, str]) -> None:
    """SIGSTOP for the process of each unit: it has its sockets, and does nothing any more."""
    for host, unit in nodes:
        fleet.lab.ssh(host, f"systemctl kill --signal=STOP {unit}")


def continue_process(fleet: Fleet, *nodes: tuple[str, str]) -> None:
    for host, unit in nodes:
        fleet.lab.ssh(host, f"systemctl kill --signal=CONT {unit}")


def test_a_process_that_served_and_hangs_does_not_answer(living: Fleet) -> None:
    frozen = (("h2", "kafka"), ("h3", "zookeeper"))
    stop_process(living, *frozen)
    done = living.run("status", "-i", str(living.inventory), check=False)
    continue_process(living, *frozen)
    for host in ("h2", "h3"):
        living.lab.ssh(host, "systemctl stop zookeeper")
    lonely = nodes(living, ExitCode.NO)
    for host in ("h2", "h3"):
        living.lab.ssh(host, "systemctl start zookeeper")
    assert done.returncode == ExitCode.NO
    rows = {line.split()[0]: line for line in done.stdout.splitlines()}
    for name in ("broker-2", "zookeeper-3"):
        assert "not answering" in rows[name]
        assert "listens and does not answer at 10." in rows[name]
    assert "not answering" not in rows["broker-1"]
    assert f"see why a node fails: kcluster logs -i {living.inventory}" in done.stdout
    assert (lonely["zookeeper-1"]["state"], lonely["zookeeper-1"]["role"]) == ("not serving", "no quorum")
    living.run("health", "-i", str(living.inventory), "--wait", "120s")


def test_a_broker_that_waits_for_controllers_starts_and_a_controller_that_hangs_does_not(running: NewFleet) -> None:
    fleet = running(3, TRIO_KRAFT)
    with_ports_that_moved_in_the_inventory_the_truth_is_told(
        fleet, TRIO_KRAFT, "kafka_controller_port: 9193", "controller"
    )
    for host in ("h1", "h2"):
        fleet.lab.ssh(host, "systemctl stop kafka-controller")
    stop_process(fleet, ("h3", "kafka-controller"))
    fleet.lab.ssh("h1", "systemctl kill --signal=KILL kafka && systemctl restart kafka")
    found = nodes(fleet, ExitCode.NO)
    text = fleet.run("status", "-i", str(fleet.inventory), check=False).stdout
    assert (found["broker-1"]["state"], found["controller-3003"]["state"]) == ("starting", "not answering"), text
    assert f"wait for starting nodes: kcluster health --wait 120s -i {fleet.inventory}" in text
