"""The order of a roll and of a start."""

from __future__ import annotations

from dataclasses import replace

from kcluster.model.node import Kind, Node
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.rollout.order import next_node, start_stages
from tests.unit.fake_hosts import BROKERS, HOSTS, SERVERS, TRIO

SPARK = SparkCluster("trio", (SparkMaster(host=HOSTS[0]),), (SparkWorker(host=HOSTS[0]), SparkWorker(host=HOSTS[1])))


def dead(node: Node) -> bool:
    return False


def leader(kind: Kind) -> str:
    return {Kind.ZOOKEEPER: "zookeeper-1", Kind.BROKER: "broker-2"}.get(kind, "")


def test_metadata_followers_come_first_and_leaders_last_of_their_kind() -> None:
    remaining: list[Node] = [*BROKERS, *SERVERS]
    order = []
    while remaining:
        order.append(next_node(remaining, dead, leader))
        remaining.remove(order[-1])
    names = ["zookeeper-2", "zookeeper-3", "zookeeper-1", "broker-1", "broker-3", "broker-2"]
    assert [node.name for node in order] == names


def test_a_node_without_a_process_is_restarted_first_of_its_kind() -> None:
    assert next_node(SERVERS, lambda node: node.name == "zookeeper-3", leader).name == "zookeeper-3"
    assert next_node([*SERVERS, *BROKERS], lambda node: node.name == "broker-3", leader).name == "zookeeper-2"


def test_the_metadata_quorum_starts_first_then_brokers_then_masters_then_workers() -> None:
    cluster = replace(TRIO, engine=SPARK)
    assert [[node.kind for node in stage] for stage in start_stages(cluster.every_node)] == [
        ["zookeeper"] * 3,
        ["broker"] * 3,
        ["spark-master"],
        ["spark-worker"] * 2,
    ]
    assert start_stages(SPARK.workers) == [list(SPARK.workers)]
