"""Hosts without an id: each is offered a number that no other host has, or is offered."""

from __future__ import annotations

import re
from typing import Any

from kcluster.inventory import cluster_from
from kcluster.model.finding import report
from kcluster.model.snippet import Syntax
from kcluster.rules.structure import structure
from tests.unit.inventory.test_builder import data

CLUSTER_ID = {"kafka_cluster_id": "MkU3OEVBNTcwNTJENDM2Qg"}


def offered(answer: dict[str, Any], variable: str) -> list[int]:
    """The numbers that all findings together offer for a variable, in their order."""
    cluster, findings = cluster_from(answer)
    assert cluster
    reported = report([*findings, *structure(cluster)], lambda _: "", lambda _: Syntax.YAML)
    texts = [finding.resolution for finding in reported]
    pattern = re.compile(rf"{variable}(?:: |, such as )(\d+)")
    return [int(found[1]) for text in texts if (found := pattern.search(text))]


def hosts(prefix: str, number: int) -> dict[str, dict[str, Any]]:
    return {f"{prefix}{each}": {} for each in range(1, number + 1)}


def test_each_host_without_an_id_is_offered_its_own() -> None:
    answer = data(zookeeper=hosts("zk", 3), kafka_broker=hosts("b", 4))
    assert offered(answer, "zookeeper_id") == [1, 2, 3]
    assert offered(answer, "kafka_broker_id") == [1, 2, 3, 4]


def test_controllers_are_offered_ids_that_no_broker_may_have() -> None:
    answer = data(all=CLUSTER_ID, kafka_controller=hosts("c", 3), kafka_broker=hosts("b", 3))
    assert offered(answer, "kafka_controller_id") == [3001, 3002, 3003]
    assert offered(answer, "kafka_broker_id") == [1, 2, 3]


def test_ids_in_use_are_not_offered() -> None:
    brokers = {"b1": {}, "b2": {"kafka_broker_id": 1}, "b3": {}, "b4": {"kafka_broker_id": 3}}
    assert offered(data(zookeeper=hosts("zk", 1), kafka_broker=brokers), "kafka_broker_id") == [2, 4]


def test_missing_duplicate_and_impossible_ids_are_offered_different_numbers() -> None:
    brokers = {
        "b1": {"kafka_broker_id": 1},
        "b2": {"kafka_broker_id": 1},
        "b3": {},
        "b4": {"kafka_broker_id": 2},
        "b5": {"kafka_broker_id": 2},
        "b6": {"kafka_broker_id": 5000},
        "b7": {"kafka_broker_id": 6000},
    }
    numbers = offered(data(zookeeper=hosts("zk", 1), kafka_broker=brokers), "kafka_broker_id")
    assert sorted(numbers) == [3, 4, 5, 6, 7]
