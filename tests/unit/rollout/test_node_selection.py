"""Which nodes a word means, and which of them start together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.errors import RefusedError
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.rollout.node_selection import installed, select_nodes, stages
from tests.unit.fake_hosts import BROKERS, HOSTS, RUNNING, TRIO, Hosts

ENGINE = SparkCluster("trio", (SparkMaster(host=HOSTS[0]),), (SparkWorker(host=HOSTS[0]), SparkWorker(host=HOSTS[1])))
CLUSTER = replace(TRIO, engine=ENGINE)


def test_without_a_name_every_node_is_meant_also_those_of_spark() -> None:
    assert select_nodes(CLUSTER, []) == list(CLUSTER.every_node)


def test_a_host_means_all_that_runs_on_it() -> None:
    assert [node.name for node in select_nodes(CLUSTER, ["h1"])] == [
        "zookeeper-1",
        "broker-1",
        "spark-master-h1",
        "spark-worker-h1",
    ]


def test_keepers_start_first_then_brokers_then_masters_then_workers() -> None:
    assert [[node.kind for node in stage] for stage in stages(CLUSTER.every_node)] == [
        ["zookeeper"] * 3,
        ["broker"] * 3,
        ["spark-master"],
        ["spark-worker"] * 2,
    ]
    assert stages(ENGINE.workers) == [list(ENGINE.workers)]


def test_units_of_another_cluster_are_left_to_it() -> None:
    there = {("h2", "kafka"): {**RUNNING, "Description": "Kafka broker 2 of staging"}}
    assert installed(TRIO, BROKERS[:1], Hosts(there))["broker-1"].running
    with pytest.raises(RefusedError, match="kafka on h2 belongs to the cluster staging, this one is trio"):
        installed(TRIO, BROKERS, Hosts(there))
