"""What a plan refuses, and what it says then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kcluster.errors import ExitCode
from kcluster.model.cluster import Cluster
from kcluster.model.node import Node
from kcluster.model.observed import Preparation
from kcluster.model.release import Release
from kcluster.plan import Refusal
from tests.unit.plan.observed_hosts import (
    BROKERS,
    CONTROLLERS,
    ID,
    NEW,
    OLD,
    OTHER,
    SERVERS,
    altered,
    bare,
    disks,
    plan,
    running,
    text_of,
)


def test_another_line_of_releases_is_refused_on_a_live_cluster() -> None:
    found = plan(replace(NEW, release=Release("4.2.0")), running(replace(NEW, release=Release("4.1.1"))))
    assert len(found.refused) == 6
    assert found.refused[0].what == (
        "controller-3001 on h1 has kafka_2.13-4.1.1, the inventory asks for kafka_2.13-4.2.0"
    )
    assert "newest 4.1.x" in found.refused[0].resolution
    assert found.exit_code is ExitCode.NO


def test_hosts_that_never_served_may_get_another_line() -> None:
    seen = {name: replace(host, current="kafka_2.13-3.8.1") for name, host in bare(OLD).items()}
    assert not plan(OLD, seen).refused


@pytest.mark.parametrize(
    ("cluster", "node", "given", "sentence", "way_out"),
    [
        (OLD, SERVERS[0], {"myid": "3"}, "/var/lib/zookeeper/myid says 3, the inventory says 1", "zookeeper_id: 3"),
        (
            OLD,
            BROKERS[0],
            {"meta": {"version": "0", "broker.id": "9"}},
            "/var/lib/kafka/meta.properties says 9, the inventory says 1",
            "set kafka_broker_id: 9 for h1",
        ),
        (
            NEW,
            CONTROLLERS[0],
            {"meta": {"version": "1", "node.id": "3002", "cluster.id": ID}},
            "/var/lib/kafka-controller/meta.properties says 3002, the inventory says 3001",
            "set kafka_controller_id: 3002 for h1",
        ),
        (
            NEW,
            BROKERS[0],
            {"meta": {"version": "1", "node.id": "1", "cluster.id": OTHER}},
            f"/var/lib/kafka/meta.properties belongs to the cluster {OTHER}, this one is {ID}",
            "another cluster",
        ),
        (
            OLD,
            BROKERS[0],
            {"meta": {"version": "0", "broker.id": "1", "cluster.id": OTHER}},
            f"/var/lib/kafka/meta.properties belongs to the cluster {OTHER}, this one is {ID}",
            "another cluster",
        ),
        (
            OLD,
            BROKERS[0],
            {"meta": {"version": "1", "node.id": "1", "cluster.id": ID}},
            "/var/lib/kafka/meta.properties was written with KRaft, the inventory asks for ZooKeeper",
            "set up the inventory with KRaft",
        ),
    ],
)
def test_a_disk_of_another_node_or_cluster_is_refused(
    cluster: Cluster, node: Node, given: dict[str, Any], sentence: str, way_out: str
) -> None:
    seen = altered(running(cluster), "h1", node.name, directories=disks(cluster, node, **given))
    (refusal,) = plan(cluster, seen).refused
    assert refusal.what == f"{node.name} on h1: {sentence}"
    assert way_out in refusal.resolution


def test_metadata_must_stay_in_the_first_directory() -> None:
    both = ("/data/0", "/var/lib/kafka")
    wider = replace(NEW, brokers=tuple(replace(one, data_dirs=both) for one in NEW.brokers))
    seen = altered(running(NEW), "h1", "broker-1", directories=disks(NEW, BROKERS[0], metadata=True))
    (refusal,) = plan(wider, seen).refused
    assert refusal.what == "broker-1 on h1: /var/lib/kafka has the cluster's metadata log, but /data/0 comes first"
    assert "put /var/lib/kafka first in kafka_data_dirs" in refusal.resolution
    added = replace(NEW, brokers=tuple(replace(one, data_dirs=both[::-1]) for one in NEW.brokers))
    assert not plan(added, seen).refused


@pytest.mark.parametrize(("owner", "refused"), [("staging", 2), ("demo-2", 2), ("demo", 0)])
def test_a_host_whose_units_are_another_clusters_is_refused(owner: str, refused: int) -> None:
    """All its data agree with each other and with the ids: only the units tell."""
    seen = {"h3": running(replace(OLD, name=owner))["h3"]}
    found = plan(OLD, seen).refused
    assert len(found) == refused
    for refusal, node in zip(found, ("zookeeper", "kafka"), strict=False):
        assert refusal.what.endswith(
            f"/etc/systemd/system/{node}.service belongs to the cluster {owner}, this one is demo"
        )
        assert "is ansible_host of h3 right?" in refusal.resolution
        assert f"kcluster_name: {owner} again" in refusal.resolution


def test_a_host_that_cannot_be_prepared_is_refused_once() -> None:
    refused = "/opt/kafka is there and is not a directory\ntry: move it away"
    seen = bare(OLD)
    seen["h2"] = replace(seen["h2"], preparation=Preparation(refused=refused))
    (refusal,) = plan(OLD, seen).refused
    assert refusal == Refusal("h2: /opt/kafka is there and is not a directory", "move it away")


def test_all_refusals_are_listed_at_once_and_exit_with_no() -> None:
    seen = running(OLD)
    for one in SERVERS[:2]:
        seen = altered(seen, one.host.name, one.name, directories=disks(OLD, one, myid="7"))
    found = plan(OLD, seen)
    assert len(found.refused) == 2
    assert found.exit_code is ExitCode.NO
    assert "refused: zookeeper-1 on h1" in text_of(found)
    assert "demo: 2 refusals" in text_of(found)
