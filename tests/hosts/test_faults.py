"""What goes wrong on a bad night, on real hosts: a control node dies, a broker cannot start, the power goes."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from glob import glob
from typing import Any

import pytest
import yaml

from tests.hosts.fleet import SOLO, SOLO_KRAFT, TRIO_ZK, Fleet, NewFleet
from tests.hosts.under_load import under_load
from tests.lab import faults
from tests.lab.machine import wait_until

Reached = Callable[[Fleet, int], bool]
"""Whether a moment of the run with this number is there."""


def noted(lines: int) -> Reached:
    """The run's journal has that many lines."""

    def reached(fleet: Fleet, number: int) -> bool:
        journal = fleet.home / f"clusters/solo/journal/{number}.jsonl"
        return journal.exists() and journal.read_bytes().count(b"\n") >= lines

    return reached


def there(pattern: str, least: int = 1, *, without: str = "") -> Reached:
    """The host has that many files like this, and still none of those."""

    def reached(fleet: Fleet, number: int) -> bool:
        root = fleet.lab.host("h1").root
        found, too_late = (len(glob(str(root / each))) for each in (pattern, without or "none"))
        return found >= least and not too_late

    return reached


UNPACKED = "opt/kafka/.*.partial/libs/*.jar"
UNIT = "etc/systemd/system/kafka.service"
FORMATTED = "var/lib/kafka*/meta.properties"

KILLED: dict[str, tuple[str, dict[str, Reached]]] = {
    "with ZooKeeper": (
        SOLO,
        {
            "the lock is held": noted(1),
            "line 4": noted(4),
            "unpacking begins": there("opt/kafka/.*.partial"),
            "configuration is written": there("etc/kafka/*.properties"),
            "the first server starts": there("var/lib/zookeeper/version-2"),
        },
    ),
    "with ZooKeeper, line 7": (SOLO, {"line 7": noted(7)}),
    "with ZooKeeper, line 10": (SOLO, {"line 10": noted(10)}),
    "with KRaft": (
        SOLO_KRAFT,
        {"half unpacked": there(UNPACKED, 50), "formatting goes on": there(UNIT, without=FORMATTED)},
    ),
    "with KRaft, formatted": (
        SOLO_KRAFT,
        {"a node is formatted, none runs": there(FORMATTED, without="var/lib/kafka*/__cluster_metadata-0")},
    ),
}
"""When the control node dies, in the order of a first run: each run goes on where the one before it was killed.

A later line of the journal comes at another moment of a run that has less to do, so it has a host of its own, as has
what the run before it may have left behind by then.
"""


def provision(fleet: Fleet, *args: str, **more: Any) -> Any:
    return json.loads(fleet.run("provision", "-i", str(fleet.inventory), "--yes", "-o", "json", *args, **more).stdout)


def all_run(fleet: Fleet) -> bool:
    return fleet.run("status", "-i", str(fleet.inventory), check=False).returncode == 0


def until(fleet: Fleet, seconds: float = 300) -> None:
    """Wait until every node runs."""
    wait_until(lambda: all_run(fleet), seconds, "every node runs")


def killed_at(fleet: Fleet, reached: Reached, number: int) -> bool:
    """Begin the run with this number, and kill it at a moment that is ahead; whether it was still at work then."""
    assert not reached(fleet, number), "an earlier run came that far"
    with fleet.process("provision", "-i", str(fleet.inventory), "--yes") as run:
        while run.poll() is None and not reached(fleet, number):
            time.sleep(0.005)
        at_work = run.poll() is None
        run.send_signal(signal.SIGKILL)
        run.communicate()
    return at_work


@pytest.mark.parametrize("how", KILLED)
def test_the_next_run_repairs_what_a_killed_control_node_left(fleet: NewFleet, how: str) -> None:
    cluster, moments = KILLED[how]
    solo = fleet(1, cluster)
    for number, (moment, reached) in enumerate(moments.items(), 1):
        assert killed_at(solo, reached, number), f"run {number} ended without the moment: {moment}"

    result = provision(solo)
    assert result["holds"] is True
    assert all_run(solo)
    left = solo.lab.ssh("h1", "ls -A /opt/kafka /etc/kafka /var/lib/[kz]*")
    assert ".partial" not in left
    assert ".new" not in left
    outcomes = [run["outcome"] for run in json.loads(solo.run("history", "-n", "solo", "-o", "json").stdout)["runs"]]
    assert outcomes == [*["interrupted"] * len(moments), "done"]
    assert "nothing had to change" in solo.run("provision", "-i", str(solo.inventory), "--yes", "--no-smoke").stdout


def test_a_user_whose_sudo_asks_is_enough(fleet: NewFleet) -> None:
    solo = fleet(1, SOLO)
    faults.sudo_asks(solo.lab.host("h1"))
    hosts = yaml.safe_load((solo.inventory / "hosts.yml").read_text())
    hosts["all"]["hosts"]["h1"] |= {"ansible_user": "asked", "ansible_become": True}
    (solo.inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))

    refused = solo.run("provision", "-i", str(solo.inventory), "--yes", check=False)
    assert refused.returncode != 0
    assert "password" in refused.stderr
    assert "-K" in refused.stderr
    assert provision(solo, env={"KCLUSTER_BECOME_PASSWORD": faults.PASSWORD})["holds"] is True


def test_one_bad_night_of_a_trio(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)

    # A setting no broker starts with: the first one stays down, with the cause; the others serve on.
    trio.write(TRIO_ZK.replace("  children:", '    kafka_environment: {KAFKA_OPTS: "-XX:+NoSuchFlag"}\n  children:', 1))
    with under_load(trio, trio.bootstrap, "bad-setting") as load:
        stopped = trio.run("provision", "-i", str(trio.inventory), "--yes", check=False)
    assert stopped.returncode == 5
    assert "the JVM refuses an option" in stopped.stderr
    assert "NoSuchFlag" in stopped.stderr
    assert "all nodes have their new files" in stopped.stderr
    load.assert_served()
    states = json.loads(trio.run("status", "-i", str(trio.inventory), "-o", "json", check=False).stdout)["nodes"]
    assert sum(node["state"] == "running" for node in states) == 5

    # While it is down no other broker may stop: the roll waits, says why, and gives up before harm.
    waited = trio.run("restart", "-i", str(trio.inventory), "--yes", "--gate-timeout", "5", "broker-3", check=False)
    assert waited.returncode == 4
    assert "may not stop" in waited.stderr
    states = json.loads(trio.run("status", "-i", str(trio.inventory), "-o", "json", check=False).stdout)["nodes"]
    assert sum(node["state"] == "running" for node in states) == 5

    # The setting is taken back: the next run starts what is down and touches nothing else.
    (down,) = (node for node in states if node["state"] != "running")
    trio.lab.ssh(down["host"], "systemctl stop kafka")  # systemd tries again and again, perhaps just now
    trio.write(TRIO_ZK)
    assert provision(trio)["holds"] is True

    # The power goes and comes back: the services are there by themselves, also where e2fsck made its directory again.
    host = trio.lab.host("h2")
    trio.lab.ssh("h2", "mkdir -m 700 /var/lib/kafka/lost+found && sync")
    with under_load(trio, trio.bootstrap, "power-cut", "socket.timeout.ms=4000") as load:
        faults.power_cut(host)
        trio.lab.ssh("h1", "sleep 15")
        faults.boot(host)
        until(trio)
    load.assert_served(longest_gap=12.0)  # 7 on an idle machine; 18 and more with ZooKeeper's sessions of before
    assert provision(trio)["changed"] == []
