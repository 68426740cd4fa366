"""Waiting for a change until whichever broker is asked next knows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import Partition, TopicState, wait_until_led
from kcluster.errors import RefusedError, UnreachableError
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations.topic import apply, delete

View = dict[str, TopicState]


def view(*leaders: int | None) -> View:
    parts = (Partition(number, leader, (1, 2), (1, 2)) for number, leader in enumerate(leaders))
    return {"orders": TopicState("orders", tuple(parts))}


class Cluster(Kafka):
    """Brokers that say one thing after the other, and never run out of the last."""

    def until(self, ask, within=10.0):
        return next((answer for answer in (ask() for _ in range(5)) if answer is not None), None)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Cluster:
    said: list[Sequence[View]] = list(request.param)

    def each(kafka: Kafka) -> Iterable[View]:
        return said.pop(0) if len(said) > 1 else said[0]

    monkeypatch.setattr(topics, "by_each_broker", each)
    monkeypatch.setattr(topics, "topics", lambda kafka: view(1, 2))
    monkeypatch.setattr(topics, "delete", lambda kafka, names: None)
    return Cluster("h:1")


LATE = [view(1, 2), {}], [view(1, 2), view(1)], [view(1, 2), view(1, None)]


@pytest.mark.parametrize("cluster", [[*LATE, [view(1, 2), view(1, 2)]]], indirect=True)
def test_a_topic_is_settled_when_every_broker_knows_a_leader_of_each_partition(cluster: Cluster) -> None:
    assert wait_until_led(cluster, {"orders": 2}) == view(1, 2)


@pytest.mark.parametrize("cluster", [[each] for each in LATE], indirect=True)
def test_one_broker_that_has_not_heard_all_of_it_keeps_the_others_waiting(cluster: Cluster) -> None:
    with pytest.raises(RefusedError, match="orders: not every partition has got a leader yet"):
        wait_until_led(cluster, {"orders": 2})


@pytest.mark.parametrize("cluster", [[[]]], indirect=True)
def test_brokers_that_this_machine_does_not_reach_are_not_waited_for(cluster: Cluster) -> None:
    assert wait_until_led(cluster, {"orders": 0}) == view(1, 2)


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ([[view(1), {}], [{}, {}]], "deleted orders"),
        ([[view(1), {}]], "deleted orders (the brokers have not removed it everywhere yet)"),
    ],
    indirect=["cluster"],
)
def test_a_topic_is_deleted_when_the_last_broker_has_forgotten_it(cluster: Cluster, said: str) -> None:
    assert delete.delete(cluster, ["orders"]).text == said


def test_a_loss_that_cannot_be_counted_is_not_said_to_be_none() -> None:
    known, unled = (Partition(n, n or None, (1,), (1,), start=5, end=9 if n else None) for n in (1, 0))
    assert delete._loss(TopicState("orders", (known,))) == "1 partition, 4 records"
    several = "2 partitions, at least 4 records, 1 partition without a leader"
    assert delete._loss(TopicState("orders", (known, unled))) == several


def test_a_broker_that_has_just_died_does_not_make_a_made_change_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_config(kafka: Kafka, states: list[TopicState], *, broker: int, within: float) -> list[TopicState]:
        if broker == 2:
            raise UnreachableError("no broker answers")
        return [replace(state, config={"retention.ms": "1"}) for state in states]

    monkeypatch.setattr(topics, "topics", lambda kafka: view(1, 2))
    monkeypatch.setattr(topics, "with_config", with_config)
    monkeypatch.setattr(Kafka, "metadata", lambda kafka: SimpleNamespace(brokers={1: None, 2: None}))
    for before, propagated in (("2", True), ("1", None)):
        made = TopicChange(TopicAction.SET, "orders", "retention.ms", before, "1")
        assert apply._propagated(Kafka("h:1"), [made]) is propagated
