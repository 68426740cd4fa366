"""Spark in the model: its names, its address, and its place beside Kafka."""

from __future__ import annotations

from dataclasses import replace

from kcluster.model.host import Host
from kcluster.model.node import Places
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from tests.unit.plan.observed_hosts import HOSTS, OLD

ALONE = Host("s1", "10.0.0.9")
ENGINE = SparkCluster(
    name="demo",
    masters=(SparkMaster(host=HOSTS[0]), SparkMaster(host=HOSTS[1], port=7177)),
    workers=(SparkWorker(host=HOSTS[1]), SparkWorker(host=ALONE)),
    secret="sesame",
)
CLUSTER = replace(OLD, engine=ENGINE)


def test_a_daemon_is_named_by_its_host() -> None:
    assert [node.name for node in ENGINE.nodes] == [
        "spark-master-h1",
        "spark-master-h2",
        "spark-worker-h2",
        "spark-worker-s1",
    ]
    assert ENGINE.masters[0].places == Places("spark", "spark", "/opt/spark", "/etc/spark", "/var/log/spark")


def test_jobs_and_workers_are_given_all_masters() -> None:
    assert ENGINE.url == "spark://10.0.0.1:7077,10.0.0.2:7177"


def test_a_secret_is_in_no_text_of_the_model() -> None:
    assert "sesame" not in f"{CLUSTER}"


def test_spark_is_a_part_of_its_cluster_and_not_among_the_nodes_of_kafka() -> None:
    assert CLUSTER.parts == (CLUSTER, ENGINE)
    assert OLD.parts == (OLD,)
    assert CLUSTER.nodes == OLD.nodes
    assert CLUSTER.hosts == HOSTS
    assert CLUSTER.every_node == (*OLD.nodes, *ENGINE.nodes)
    assert CLUSTER.every_host == (*HOSTS, ALONE)
    assert [CLUSTER.part_of(node) for node in CLUSTER.every_node] == [CLUSTER] * 6 + [ENGINE] * 4


def test_a_daemon_is_found_by_its_name_and_by_its_host() -> None:
    assert CLUSTER.find("spark-worker-s1") == CLUSTER.find("s1") == (ENGINE.workers[1],)
    assert [node.name for node in CLUSTER.find("h2")] == [
        "zookeeper-2",
        "broker-2",
        "spark-master-h2",
        "spark-worker-h2",
    ]


def test_the_part_on_some_hosts_has_their_daemons_only() -> None:
    part = CLUSTER.on_hosts(["h2"])
    assert [node.name for node in part.every_node][-2:] == ["spark-master-h2", "spark-worker-h2"]
    assert [node.name for node in ENGINE.on(HOSTS[1])] == ["spark-master-h2", "spark-worker-h2"]
    assert [node.name for node in ENGINE.on_hosts(["s1"]).nodes] == ["spark-worker-s1"]
