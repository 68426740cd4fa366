"""Which nodes a word means, and which of them start together."""

from __future__ import annotations

from dataclasses import replace

from kcluster.model.engine import Engine, Master, Worker
from kcluster.operations.chosen import chosen, stages
from tests.unit.operations.hosts import HOSTS, TRIO

ENGINE = Engine("trio", (Master(host=HOSTS[0]),), (Worker(host=HOSTS[0]), Worker(host=HOSTS[1])))
CLUSTER = replace(TRIO, engine=ENGINE)


def test_without_a_name_every_node_is_meant_also_those_of_spark() -> None:
    assert chosen(CLUSTER, []) == list(CLUSTER.every_node)


def test_a_host_means_all_that_runs_on_it() -> None:
    assert [node.name for node in chosen(CLUSTER, ["h1"])] == [
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
