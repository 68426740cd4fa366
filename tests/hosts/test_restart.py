"""Rolling restarts, starts and stops on real hosts, under load and with a broker that cannot start."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet

LONGEST_GAP = 20.0
"""Seconds without an acknowledgement; a second or two on a machine with nothing else to do."""


def bootstrap(fleet: Fleet) -> str:
    return ",".join(f"{host.address}:9092" for host in fleet.lab.hosts)


def load(fleet: Fleet, *words: str) -> list[str]:
    inside = ["ip", "netns", "exec", fleet.lab.network.namespace]
    return [*inside, sys.executable, str(Path(__file__).with_name("load.py")), *words]


@contextmanager
def under_load(fleet: Fleet, topic: str) -> Iterator[dict[str, Any]]:
    """200 records a second; afterwards what was acknowledged, and the longest gap."""
    told: dict[str, Any] = {}
    settings = ("-p", "6", "-r", "3", "--config", "min.insync.replicas=2")
    fleet.run("topic", "create", topic, *settings, "-b", bootstrap(fleet))
    command = load(fleet, "produce", bootstrap(fleet), topic)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield told
            told.update(json.loads(program.communicate(timeout=90)[0]))
        finally:
            program.kill()


def found(fleet: Fleet, topic: str) -> set[int]:
    command = load(fleet, "consume", bootstrap(fleet), topic)
    return set(json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout))


def kcluster(fleet: Fleet, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = fleet.run(*words, "-i", str(fleet.inventory), check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def leader(fleet: Fleet, role: str) -> str:
    nodes = json.loads(kcluster(fleet, "status", "-o", "json").stdout)["nodes"]
    return next(node["node"] for node in nodes if role in node["role"])


def made(fleet: Fleet) -> None:
    """A cluster that serves."""
    fleet.ansible("provision.yml")
    kcluster(fleet, "start")


def test_a_live_zookeeper_cluster_is_restarted_stopped_and_started_without_losing_a_record(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_ZK)
    made(trio)
    first = leader(trio, "leader")

    with under_load(trio, "load") as sent:
        steps = json.loads(kcluster(trio, "restart", "--yes", "-o", "json").stdout)["steps"]
    order = [step["node"] for step in steps]
    assert [name.partition("-")[0] for name in order] == ["zookeeper"] * 3 + ["broker"] * 3
    assert order[2] == first
    assert len(sent["acknowledged"]) > 1000
    assert set(sent["acknowledged"]) <= found(trio, "load")
    print(f"longest gap {sent['gap']} s, seconds per node {[step['seconds'] for step in steps]}")
    assert sent["gap"] < LONGEST_GAP

    # A broker that cannot start ends the roll: the one before it is done, the one after it is not touched.
    last = leader(trio, "controller")
    done, broken = (f"broker-{number}" for number in (1, 2, 3) if f"broker-{number}" != last)
    host, config = f"h{broken[-1]}", "/etc/kafka/server.properties"
    trio.lab.ssh(host, f"cp -p {config} {config}.good; echo num.io.threads=many >> {config}")
    with under_load(trio, "broken") as sent:
        refused = kcluster(trio, "restart", "broker-1", "broker-2", "broker-3", "--yes", code=5)
    assert f"{broken} on {host} does not start: a setting is refused" in refused.stderr
    assert "Invalid value many for configuration num.io.threads" in refused.stderr
    assert f"restarted: {done}; not touched: {last}" in refused.stderr
    assert set(sent["acknowledged"]) <= found(trio, "broken")
    assert sent["gap"] < LONGEST_GAP

    # While it is gone no other may stop, and nothing is stopped.
    waiting = kcluster(trio, "restart", done, "--yes", "--gate-timeout", "2", code=4)
    assert f"{done} may not stop: {broken} does not answer" in waiting.stderr
    assert trio.lab.ssh(f"h{done[-1]}", "systemctl is-active kafka").strip() == "active"
    trio.lab.ssh(host, f"mv {config}.good {config}")
    kcluster(trio, "restart", broken, "--yes")

    # One host less is safe, two are not; a whole cluster goes down in order and comes back with everything.
    assert "cannot be made safe" in kcluster(trio, "stop", "h1", "h2", "--yes", code=4).stderr
    kcluster(trio, "stop", "h1", "--yes")
    assert "zookeeper-1 does not serve" in kcluster(trio, "stop", "h2", "--yes", "--gate-timeout", "2", code=4).stderr
    assert "there is no terminal to ask" in kcluster(trio, "stop", code=2).stderr
    stopped = json.loads(kcluster(trio, "stop", "--yes", "-o", "json").stdout)
    assert stopped["stopped"] == ["zookeeper-2", "zookeeper-3", "broker-2", "broker-3"]
    started = json.loads(kcluster(trio, "start", "--yes", "-o", "json").stdout)
    assert len(started["started"]) == 6
    assert set(sent["acknowledged"]) <= found(trio, "broken")
    assert "has no node or host h9" in kcluster(trio, "stop", "h9", "--yes", code=2).stderr


def test_a_live_kraft_cluster_is_restarted_by_the_cli_and_by_plain_ansible(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_KRAFT)
    made(trio)
    active = leader(trio, "leader")
    controllers = [f"controller-{number}" for number in (3001, 3002, 3003)]
    with under_load(trio, "cli") as sent:
        steps = json.loads(kcluster(trio, "restart", *controllers, "--yes", "-o", "json").stdout)["steps"]
    assert sorted(step["node"] for step in steps) == controllers
    assert steps[2]["node"] == active
    assert set(sent["acknowledged"]) <= found(trio, "cli")

    before = begun(trio)
    with under_load(trio, "ansible") as sent:
        trio.ansible("restart.yml")
    after = begun(trio)
    assert all(after[place] > before[place] for place in after)
    assert [unit for _, unit in sorted(after, key=lambda place: after[place])] == ["kafka-controller"] * 3 + [
        "kafka"
    ] * 3
    assert set(sent["acknowledged"]) <= found(trio, "ansible")
    print(f"longest gap {sent['gap']} s")
    assert sent["gap"] < LONGEST_GAP


def begun(fleet: Fleet) -> dict[tuple[str, str], int]:
    """When each unit's process began, by the one clock that all lab hosts share."""
    ask = "systemctl show --property ExecMainStartTimestampMonotonic --value"
    units = ("kafka-controller", "kafka")
    return {
        (host.name, unit): int(fleet.lab.ssh(host.name, f"{ask} {unit}")) for host in fleet.lab.hosts for unit in units
    }
