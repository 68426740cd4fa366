"""Hosts that let only SSH through to this machine, as behind a bastion: processes are asked from their own hosts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from kcluster.errors import ExitCode
from tests.hosts.fleet import TRIO_KRAFT, Fleet, NewFleet
from tests.hosts.test_health import checks
from tests.hosts.test_status import nodes
from tests.lab import faults


@contextmanager
def only_ssh(fleet: Fleet) -> Iterator[None]:
    """A firewall that drops everything else from this machine; the hosts reach each other."""
    for host in fleet.lab.hosts:
        faults.ssh_only(host)
    yield
    for host in fleet.lab.hosts:
        faults.every_port(host)


def kcluster(fleet: Fleet, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = fleet.run(*words, "-i", str(fleet.inventory), check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def told(fleet: Fleet) -> None:
    """What is asked many times a day is answered as ever, and says that clients on this machine get nowhere."""
    found, rows = checks(fleet, ExitCode.DONE), nodes(fleet, ExitCode.DONE)
    assert found["nodes up"]["detail"] == "6 of 6 answer"
    assert (found["ports from here"]["warning"], found["ports from here"]["subject"]) == (True, "h1, h2, h3")
    assert found["under-min-ISR partitions"]["detail"].startswith("0 of ")
    assert "leader" in {row["role"] for row in rows.values()}


def begun(fleet: Fleet, unit: str) -> list[str]:
    ask = f"systemctl show --property ExecMainStartTimestampMonotonic --value {unit}"
    return [fleet.lab.ssh(host.name, ask) for host in fleet.lab.hosts]


def test_a_zookeeper_cluster_is_watched_and_rolled_behind_a_bastion(living: Fleet) -> None:
    create = ("topic", "create", "safe", "-p", "3", "-r", "3", "-c", "min.insync.replicas=2", "-b", living.bootstrap)
    living.run(*create)
    before = begun(living, "kafka") + begun(living, "zookeeper")
    with only_ssh(living):
        told(living)
        for words, why in (
            (("stop", "broker-1", "broker-2"), "broker-1 and broker-2 together hold too many replicas"),
            (("stop", "zookeeper-1", "zookeeper-2"), "there is no majority of 3 ZooKeeper servers"),
        ):
            assert why in kcluster(living, *words, "--yes", "--gate-timeout", "2", code=4).stderr
        assert begun(living, "kafka") + begun(living, "zookeeper") == before
        living.lab.ssh("h3", "systemctl stop kafka")
        closed = kcluster(living, "restart", "broker-1", "--yes", "--gate-timeout", "2", code=4)
        assert "broker-1 may not stop: broker-3 does not answer" in closed.stderr
        kcluster(living, "start", "broker-3", "--yes")
        kcluster(living, "restart", "zookeeper-1", "broker-1", "--yes")
        smoke = kcluster(living, "smoke", code=6)
        assert "this machine reaches no broker" in smoke.stderr, smoke.stderr
    after = begun(living, "kafka") + begun(living, "zookeeper")
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, False, True, True, False, False]
    kcluster(living, "health", "--wait", "120s")


def test_a_kraft_cluster_is_watched_and_rolled_behind_a_bastion(running: NewFleet) -> None:
    trio = running(3, TRIO_KRAFT)
    with only_ssh(trio):
        told(trio)
        why = "there is no majority of 3 controllers"
        assert why in kcluster(trio, "stop", "controller-3001", "controller-3002", "--yes", code=4).stderr
        kcluster(trio, "restart", "controller-3001", "broker-1", "--yes")
