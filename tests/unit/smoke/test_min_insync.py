from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka.admin import ConfigSource

from kcluster.clients.kafka import Kafka, brokers
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.node import Layer
from kcluster.smoke.min_insync import judge_value, too_low
from tests.unit.plan.observed_hosts import OLD


def config(value: str, source: ConfigSource = ConfigSource.STATIC_BROKER_CONFIG) -> dict[str, Any]:
    return {"min.insync.replicas": SimpleNamespace(value=value, source=source.value)}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (ConfigSource.DYNAMIC_BROKER_CONFIG, "(dynamic broker), declared 2"),
        (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, "(dynamic default), declared 2"),
        (ConfigSource.STATIC_BROKER_CONFIG, "(static), declared 2"),
        (ConfigSource.DEFAULT_CONFIG, "(default), declared 2"),
    ],
)
def test_a_lower_value_is_named_with_broker_source_and_remedy(source: ConfigSource, told: str) -> None:
    (problem,) = judge_value(7, 2, config("1", source))
    assert problem.startswith(
        f"broker 7: min.insync.replicas is 1 {told}: acknowledged records may be on 1 broker only; "
    )
    assert "kcluster provision" in problem


@pytest.mark.parametrize("value", ["2", "3"])
def test_the_declared_value_and_a_higher_one_are_fine(value: str) -> None:
    assert list(judge_value(7, 2, config(value))) == []


def three_brokers(**properties: str) -> Cluster:
    def broker(number: int) -> Broker:
        own = replace(OLD.brokers[0], id=number)
        return replace(own, layers=(Layer("cluster", properties),)) if properties else own

    return replace(OLD, brokers=tuple(broker(number) for number in (1, 2, 3)))


@pytest.mark.parametrize(
    ("cluster", "named"),
    [
        (three_brokers(), []),  # the default for three brokers is 2
        (three_brokers(**{"min.insync.replicas": "3"}), [1, 2]),
    ],
)
def test_declared_is_what_the_inventory_says_or_else_the_default_and_absent_brokers_are_not_asked(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, named: list[int]
) -> None:
    def configs(kafka: Kafka, asked: list[int], within: float) -> dict[int, Any]:
        assert asked == [1, 2]
        return {broker: config("2") for broker in asked}

    monkeypatch.setattr(brokers, "configs", configs)
    problems = too_low(Kafka("h1:9092"), cluster, {1, 2})
    assert [problem.partition(":")[0] for problem in problems] == [f"broker {broker}" for broker in named]
