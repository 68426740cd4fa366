"""The nodes that names of nodes and hosts select."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.errors import RefusedError
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.rollout.node_selection import installed, select_nodes
from tests.unit.fake_hosts import BROKERS, HOSTS, RUNNING, TRIO, Hosts

ENGINE = SparkCluster("trio", (SparkMaster(host=HOSTS[0]),), (SparkWorker(host=HOSTS[0]), SparkWorker(host=HOSTS[1])))
CLUSTER = replace(TRIO, engine=ENGINE)


def test_without_names_every_node_is_selected_also_those_of_spark() -> None:
    assert select_nodes(CLUSTER, []) == list(CLUSTER.every_node)


def test_a_host_selects_all_nodes_on_it() -> None:
    assert [node.name for node in select_nodes(CLUSTER, ["h1"])] == [
        "zookeeper-1",
        "broker-1",
        "spark-master-h1",
        "spark-worker-h1",
    ]


def test_units_of_another_cluster_are_refused() -> None:
    there = {("h2", "kafka"): {**RUNNING, "Description": "Kafka broker 2 of staging"}}
    assert installed(TRIO, BROKERS[:1], Hosts(there))["broker-1"].running
    with pytest.raises(RefusedError, match="kafka on h2 belongs to the cluster staging, this one is trio"):
        installed(TRIO, BROKERS, Hosts(there))
