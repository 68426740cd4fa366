from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.errors import UnreachableError
from kcluster.health.host_checks import address_check, host_checks, spark_check
from kcluster.local import topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.model.host import Host
from kcluster.model.observed import ObservedDirectory, ObservedHost, ObservedNode, ObservedUnit
from kcluster.model.running import Running
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.results import Check, Checks
from tests.unit.fake_hosts import SPARKED

CLUSTER = topology.cluster_of("c", UpOrigin(brokers=3, keepers=1), "")
UP = ObservedUnit("active", enabled=True, pid=7, uptime_seconds=4000.0)
DISK = ObservedDirectory("kafka:kafka 0750", "/", "ext4", 50, 100, empty=False)


def asked(unit: ObservedUnit = UP, disk: ObservedDirectory = DISK, **lost: UnreachableError) -> dict[str, Check]:
    """The answers when broker-2 is as given and all others are well."""
    seen = {
        node.host.name: lost.get(node.host.name)
        or ObservedHost(
            node.host.name,
            nodes={
                node.name: ObservedNode(
                    unit if node.name == "broker-2" else UP,
                    directories={"/data": disk if node.name == "broker-2" else DISK},
                )
            },
        )
        for node in CLUSTER.nodes
    }
    return {check.name: check for check in host_checks(CLUSTER, [seen])}


def test_hosts_on_which_all_is_well_are_a_yes():
    found = asked()
    assert all(check.ok and not check.warning for check in found.values())
    assert found["disk room"].detail == "50% free at least"


def test_a_host_that_cannot_be_reached_is_a_no_and_the_others_are_judged_all_the_same():
    found = asked(broker2=UnreachableError("broker2: no route to host"))
    assert (found["hosts reachable"].ok, found["hosts reachable"].subject) == (False, "broker2")
    assert found["units run"].detail == "3 of 3"


@pytest.mark.parametrize("state", ["failed", "inactive", "activating", "missing"])
def test_a_unit_that_does_not_run_is_named_with_its_state(state):
    found = asked(replace(UP, state=state))["units run"]
    assert (found.ok, found.subject, found.detail) == (False, "broker-2", f"3 of 4; broker-2 {state}")


def test_a_process_that_systemd_started_again_a_moment_ago_is_not_steady():
    found = asked(replace(UP, restarts=3, uptime_seconds=12.0))["units steady"]
    assert (found.ok, found.subject) == (False, "broker-2")
    assert "3 times, the last 12 s ago" in found.detail
    assert asked(replace(UP, restarts=3))["units steady"].ok


def test_a_unit_that_would_not_start_at_boot_is_a_no():
    assert asked(replace(UP, enabled=False))["units start at boot"].subject == "broker-2"


def test_little_room_is_a_warning_and_none_a_no():
    little, none = asked(disk=replace(DISK, free_bytes=9)), asked(disk=replace(DISK, free_bytes=1))
    assert (little["disk room"].ok, little["disk room"].warning) == (True, True)
    assert (none["disk room"].ok, none["disk room"].warning) == (False, False)
    assert none["disk room"].subject == "broker2:/data"
    assert "warning" in str(next(iter(Checks("c", list(little.values())).view())).rows[-1])


def test_spark_on_a_host_of_its_own_is_judged_and_a_master_may_have_handed_over():
    restarted = replace(UP, restarts=1, uptime_seconds=3.0)
    engine = SPARKED.engine
    kafka = {
        h.name: ObservedHost(h.name, nodes={n.name: ObservedNode(UP) for n in SPARKED.on(h)}) for h in SPARKED.hosts
    }
    spark = {
        h.name: ObservedHost(h.name, nodes={n.name: ObservedNode(restarted) for n in engine.on(h)})
        for h in engine.hosts
    }
    found = {check.name: check for check in host_checks(SPARKED, [kafka, spark])}
    assert found["units run"].detail == "10 of 10"
    assert (found["units steady"].ok, found["units steady"].subject) == (False, "spark-worker-h2, spark-worker-h3")


def test_a_spark_that_does_not_serve_names_who_and_why():
    nobody = Host("h1", "127.0.0.1")
    found = spark_check(SparkCluster("c", (SparkMaster(host=nobody, web_port=1),), (SparkWorker(host=nobody),)))
    assert (found.ok, found.subject) == (False, "spark-master-h1")
    assert found.detail == "spark-master-h1 does not answer yet; no Spark master leads"


def test_an_inventory_with_other_listeners_than_run_is_a_warning_with_both():
    assert address_check(CLUSTER, Running(CLUSTER)).detail == "4 of 4 run where the inventory has them"
    broker = CLUSTER.brokers[1]
    inner = broker.internal
    away = replace(broker, listeners=(replace(inner, protocol="SSL"),))
    closing = replace(CLUSTER.brokers[2], listeners=(inner, replace(inner, name="old", advertised_port=9)))
    running = Running(CLUSTER).observed({}, {away.name: away, closing.name: closing})
    check = address_check(CLUSTER, running)
    assert (check.ok, check.warning, check.subject) == (True, True, "broker-2, broker-3")
    at = f"{inner.address} "
    assert f"broker-2 {inner.label} runs at {at}SSL, the inventory has {at}PLAINTEXT; broker-3 " in check.detail
