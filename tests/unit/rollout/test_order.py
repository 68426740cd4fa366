"""The order of a roll and of a start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.errors import UsageError
from kcluster.model.node import Kind, Node
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.rollout.order import ONE_BY_ONE, AtOnce, next_node, next_turn, start_stages
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


RACKED = [replace(BROKERS[0], id=number, rack="ab"[number % 2]) for number in range(1, 7)]
PAIRS = AtOnce(2)
BY_RACK = AtOnce(None, by_rack=True)


def turn(remaining, at_once, dead=dead):
    """The nodes of the next turn, the controller behind a bar."""
    found = next_turn(remaining, dead, leader, at_once)
    last = f" | {found.last.name}" if found.last else ""
    return " ".join(node.name for node in (found.first, *found.candidates)) + last


def test_brokers_of_one_rack_may_go_together_and_that_of_the_controller_is_last():
    assert turn(RACKED, BY_RACK) == "broker-1 broker-3 broker-5"
    assert turn([RACKED[1], *RACKED[3:]], BY_RACK) == "broker-5"
    assert turn(RACKED[1::2], BY_RACK) == "broker-4 broker-6 | broker-2"
    assert turn(RACKED[1:2], BY_RACK) == "broker-2"
    assert turn(RACKED, ONE_BY_ONE) == "broker-1"


def test_any_brokers_may_go_together_those_of_one_rack_first():
    assert turn(RACKED, PAIRS) == "broker-1 broker-3 broker-5 broker-4 broker-6"
    assert turn(RACKED[1:4], PAIRS) == "broker-3 broker-4"
    assert turn(RACKED[1:3], PAIRS) == "broker-3 | broker-2"
    assert turn(RACKED, AtOnce(None)) == "broker-1 broker-3 broker-5 broker-4 broker-6 | broker-2"


def test_with_a_broker_without_a_process_go_only_others_without():
    gone = ("broker-4", "broker-5", "broker-6")
    assert turn(RACKED, BY_RACK, lambda node: node.name in gone) == "broker-4 broker-6"
    assert turn(RACKED, PAIRS, lambda node: node.name == "broker-5") == "broker-5"


def test_nodes_that_are_no_brokers_go_one_at_a_time():
    assert turn([*SERVERS, *RACKED], BY_RACK) == "zookeeper-2"
    assert turn(SPARK.workers, AtOnce(None)) == "spark-worker-h1"


def test_at_once_is_a_number_or_rack():
    assert AtOnce.of("1", BROKERS) == ONE_BY_ONE
    assert (AtOnce.of("2", BROKERS), PAIRS.others) == (PAIRS, 1)
    assert (AtOnce.of("rack", RACKED), BY_RACK.others) == (BY_RACK, None)
    for wrong in ("0", "-1", "all", "1.5", ""):
        with pytest.raises(UsageError, match="use a whole number of at least 1, or rack"):
            AtOnce.of(wrong, RACKED)
    with pytest.raises(UsageError, match=r"there are 2 brokers without kafka_rack \(broker-1 and broker-2\)"):
        AtOnce.of("rack", [*BROKERS[:2], RACKED[2]])


def test_the_metadata_quorum_starts_first_then_brokers_then_masters_then_workers() -> None:
    cluster = replace(TRIO, engine=SPARK)
    assert [[node.kind for node in stage] for stage in start_stages(cluster.every_node)] == [
        ["zookeeper"] * 3,
        ["broker"] * 3,
        ["spark-master"],
        ["spark-worker"] * 2,
    ]
    assert start_stages(SPARK.workers) == [list(SPARK.workers)]
