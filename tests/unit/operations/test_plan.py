"""What surrounds a plan: which inventory is accepted, what hosts did not say, who is in charge, what is unknown."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kcluster import inventory
from kcluster.clients.kafka import Kafka, brokers, topics
from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.clients.ssh import Connections
from kcluster.errors import InventoryError, RefusedError, UnreachableError, UsageError
from kcluster.model.cluster import Cluster
from kcluster.model.listener import Listener
from kcluster.model.observed import ObservedHost
from kcluster.model.topic import Topic
from kcluster.model.topic_change import KEYED, TopicAction, TopicChange
from kcluster.operations import plan as operation
from kcluster.plan import Dynamic, Roles
from kcluster.plan.agreed_plan import AgreedPlan
from tests.unit.plan.observed_hosts import BROKERS, ID, OLD, OTHER, altered, bare, changed, node_seen, running, text_of
from tests.unit.stages.changes import WAYS

HOSTS = """
all:
  vars: {{kcluster_name: demo, {more}}}
  children:
    zookeeper: {{hosts: {{h1: {{zookeeper_id: 1}}, h2: {{zookeeper_id: 2}}, h3: {{zookeeper_id: 3}}}}}}
    kafka_broker: {{hosts: {{h1: {{kafka_broker_id: 1}}, h2: {{kafka_broker_id: 2}}, h3: {{kafka_broker_id: 3}}}}}}
"""
NOBODY = Kafka("127.0.0.1:1")


def accepted(tmp_path: Path, more: str) -> object:
    path = tmp_path / "inventory.yml"
    path.write_text(HOSTS.format(more=more))
    return operation.validated(inventory.load(path))


def test_an_inventory_is_validated_before_any_host_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InventoryError) as caught:
        accepted(tmp_path, "kafka_config: {min.insync.replicas: 9}")
    assert "min.insync.replicas" in caught.value.details


def test_a_cluster_on_this_machine_is_sent_to_up(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        accepted(tmp_path, "ansible_connection: local, ansible_host: 127.0.0.1")
    assert "kcluster up" in caught.value.resolution


def test_the_error_of_a_single_host_is_raised_as_it_is() -> None:
    problem = UnreachableError("h2 does not answer", resolution="is it on?")
    with pytest.raises(UnreachableError) as caught:
        operation.answers_of_all({"h1": ObservedHost("h1"), "h2": problem})
    assert caught.value is problem


def test_all_hosts_without_an_answer_are_named_at_once_and_unreachable_decides_the_exit_code() -> None:
    answers = {
        "h1": RefusedError("h1 has no python3", details="sh: not found", resolution="install it"),
        "h2": UnreachableError("h2 does not answer", resolution="is it on?"),
        "h3": ObservedHost("h3"),
    }
    with pytest.raises(UnreachableError) as caught:
        operation.answers_of_all(answers)
    assert caught.value.message == "2 of 3 hosts cannot be inspected: h1, h2"
    assert caught.value.details.splitlines() == [
        "h1 has no python3",
        "  sh: not found",
        "  try: install it",
        "h2 does not answer",
    ]
    assert caught.value.resolution == "is it on?"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, Roles()),
        ({"zookeeper-1": "follower", "zookeeper-2": "leader"}, Roles(zookeeper_leader="zookeeper-2")),
        ({"broker-1": "", "broker-3": "controller"}, Roles(controller="broker-3")),
        ({"controller-3001": "follower", "controller-3002": "leader"}, Roles(controller="controller-3002")),
    ],
)
def test_leaders_and_controllers_go_last(told: dict[str, str], expected: Roles) -> None:
    assert operation.last_nodes(told) == expected


def test_bare_hosts_are_planned_without_a_question_to_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: asked.extend(nodes) or {})
    assert operation.of(OLD, bare(OLD), NOBODY).fresh
    assert asked == []


def test_dynamic_config_of_brokers_is_observed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {node.name: "" for node in nodes})
    monkeypatch.setattr(brokers, "overrides", lambda kafka, asked, within: {1: {"min.insync.replicas": "1"}, 2: {}})
    found = operation.of(OLD, running(OLD), NOBODY)
    assert found.settings == (Dynamic("broker-1", "min.insync.replicas", "1", "2"),)
    assert found.notes == ()


def test_a_broker_with_unknown_dynamic_config_is_planned_by_its_files_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(kafka: Kafka, asked: list[int], within: float) -> dict[int, dict[str, str]]:
        raise RefusedError("no permission")

    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {node.name: "" for node in nodes})
    monkeypatch.setattr(brokers, "overrides", refuse)
    found = operation.of(OLD, running(OLD), NOBODY)
    assert found.nothing
    assert found.notes[0] == "dynamic config of broker-1 is unknown: no permission"


def behind_a_login(*more: Listener) -> Cluster:
    """The cluster with brokers that speak SASL among themselves."""
    brokers = tuple(
        replace(one, listeners=(replace(one.listeners[0], protocol="SASL_SSL"), *more)) for one in OLD.brokers
    )
    return replace(OLD, brokers=brokers)


def test_brokers_behind_a_login_are_asked_as_clients_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = behind_a_login()
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {node.name: "" for node in nodes})
    told = {number: {"num.io.threads": "12"} for number in (1, 2, 3)}
    monkeypatch.setattr(brokers, "overrides", lambda kafka, asked, within: {one: told[one] for one in asked})
    wanted, seen = changed(cluster, num_io_threads="12"), running(changed(cluster, num_io_threads="12"))
    for one in cluster.brokers:
        before = node_seen(cluster, one).started_with
        seen = altered(seen, one.host.name, one.name, started_with=before)
    found = operation.of(wanted, seen, Kafka("127.0.0.1:1", {"security.protocol": "SASL_SSL"}))
    assert (found.nothing, found.notes) == (True, ())


def test_brokers_that_no_client_of_the_inventory_can_ask_are_named_once_and_told_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = behind_a_login()
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {node.name: "" for node in nodes})
    monkeypatch.setattr(brokers, "overrides", lambda *_, **__: pytest.fail("a question that cannot be answered"))
    seen = running(changed(cluster, num_io_threads="12"))
    seen = altered(seen, "h1", "broker-1", started_with=node_seen(cluster, cluster.brokers[0]).started_with)
    found = operation.of(changed(cluster, num_io_threads="12"), seen, NOBODY)
    assert found.nothing
    assert found.notes[0] == "num.io.threads 8 -> 12 on broker-1 waits until the broker can be asked, or is restarted"
    assert found.notes[1].startswith("dynamic config of broker-1 is unknown: it has no listener for PLAINT")


DECLARED = replace(OLD, topics=(Topic("orders", 3, 3, {"retention.ms": "1"}), Topic("made", 1, 1)))
GROWN = TopicChange(TopicAction.GROW, "orders", "partitions", "2", "3", KEYED)
KEPT = TopicChange(TopicAction.SET, "orders", "retention.ms", "9", "1")
MADE = TopicChange(TopicAction.CREATE, "made", after="1 partition, replication factor 1")


def serving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers that answer, and were told nothing."""
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {node.name: "" for node in nodes})
    monkeypatch.setattr(brokers, "overrides", lambda kafka, asked, within: {one: {} for one in asked})


def test_topics_that_differ_are_something_to_do_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    serving(monkeypatch)
    orders = TopicState("orders", tuple(Partition(n, 1, (1, 2, 3), (1, 2, 3)) for n in (0, 1)))
    monkeypatch.setattr(topics, "topics", lambda kafka, within: {"orders": orders})
    configured = [replace(orders, config={"retention.ms": "9"})]
    monkeypatch.setattr(topics, "with_config", lambda kafka, states, broker, within: configured)
    found = operation.of(DECLARED, running(OLD), NOBODY)
    assert found.topics == (GROWN, KEPT, MADE)
    assert not found.nothing
    shown = text_of(found)
    assert "  ~ set orders: retention.ms 9 -> 1" in shown
    assert "  + create made: 1 partition, replication factor 1" in shown
    assert shown.endswith("demo: 3 topic changes")
    assert found.data()["topics"][1] == {**asdict(KEPT)}


def test_a_declared_change_that_topics_do_not_allow_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    serving(monkeypatch)
    orders = TopicState(
        "orders", tuple(Partition(n, 1, (1, 2), (1, 2)) for n in range(5)), {"cleanup.policy": "compact"}
    )
    made = TopicState("made", (Partition(0, 1, (1,), (1,)),), {})
    monkeypatch.setattr(topics, "topics", lambda kafka, within: {"orders": orders, "made": made})
    monkeypatch.setattr(topics, "with_config", lambda kafka, states, broker, within: states)
    found = operation.of(replace(DECLARED, topics=(Topic("orders", 3, 3), Topic("made", 1, 1))), running(OLD), NOBODY)
    assert found.nothing
    assert found.notes == (
        "topic orders: partitions stays 5, declared is 3: partitions only grow",
        "topic orders: replication factor stays 2, declared is 3: changing it needs a partition reassignment",
    )


def test_on_bare_hosts_all_declared_topics_are_shown_without_a_question() -> None:
    found = operation.of(DECLARED, bare(OLD), NOBODY)
    assert found.topics
    assert [(step.action, step.topic) for step in found.topics] == [
        (TopicAction.CREATE, "orders"),
        (TopicAction.CREATE, "made"),
    ]


def test_topics_that_cannot_be_compared_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(kafka: Kafka, asked: list[int], within: float) -> dict[int, dict[str, str]]:
        raise UnreachableError("no broker answers at 127.0.0.1:1")

    serving(monkeypatch)
    monkeypatch.setattr(brokers, "overrides", silent)
    monkeypatch.setattr(topics, "topics", lambda *_, **__: pytest.fail("a second question to who does not answer"))
    found = operation.of(DECLARED, running(OLD), NOBODY)
    assert found.nothing
    assert found.data()["topics"] is None
    assert found.notes[-1] == "declared topics cannot be compared: no broker answers"


def test_a_run_on_some_hosts_leaves_topics_out(monkeypatch: pytest.MonkeyPatch) -> None:
    serving(monkeypatch)
    monkeypatch.setattr(topics, "topics", lambda *_, **__: pytest.fail("a question about topics"))
    assert operation.of(DECLARED, running(OLD), NOBODY, topics_too=False).topics == ()


@pytest.mark.parametrize(("told", "refused"), [(ID, 0), (OTHER, 1)])
def test_a_limited_run_compares_disks_with_the_brokers_outside_of_it(
    monkeypatch: pytest.MonkeyPatch, told: str, refused: int
) -> None:
    def answer(kafka: Kafka, within: float) -> SimpleNamespace:
        assert kafka.bootstrap == "10.0.0.1:9092,10.0.0.2:9092"
        return SimpleNamespace(cluster_id=told)

    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {})
    monkeypatch.setattr(Kafka, "metadata", answer)
    found = operation.of(OLD, {"h3": running(OLD)["h3"]}, NOBODY).refused
    assert [refusal.what for refusal in found] == [
        f"broker-3 on h3: /var/lib/kafka/meta.properties belongs to the cluster {ID}, this one is {OTHER}"
    ][:refused]


def test_where_no_broker_answers_or_no_disk_has_data_the_disks_alone_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {})
    nowhere = replace(BROKERS[0].listeners[0], advertised_host="127.0.0.1", advertised_port=1)
    silent = replace(OLD, brokers=(*(replace(one, listeners=(nowhere,)) for one in BROKERS[:2]), BROKERS[2]))
    assert not operation.of(silent, {"h3": running(OLD)["h3"]}, NOBODY).refused
    monkeypatch.setattr(Kafka, "metadata", lambda *_, **__: pytest.fail("a question without need"))
    assert not operation.of(OLD, {"h3": bare(OLD)["h3"]}, NOBODY).refused
    assert not operation.of(OLD, running(OLD), NOBODY).refused


def test_a_broker_that_still_starts_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {})
    monkeypatch.setattr(brokers, "overrides", lambda *_, **__: pytest.fail("a question to a broker that starts"))
    assert operation.of(OLD, running(OLD), NOBODY).nothing


def test_declared_topics_change_after_the_last_stage_and_are_agreed_to_with_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, wanted, titles = WAYS["choice"]
    missing = TopicChange(TopicAction.CREATE, "orders", after="3 partitions")
    monkeypatch.setattr(operation, "observe_parts", lambda *_, **__: [running(before)])
    monkeypatch.setattr(operation, "roles", lambda cluster, nodes: {node.name: "" for node in nodes})
    monkeypatch.setattr(brokers, "overrides", lambda *_, **__: {1: {}, 2: {}, 3: {}})
    monkeypatch.setattr(operation, "_topics", lambda *_, **__: ((missing,), ()))
    _, found = operation.whole(replace(wanted, topics=(Topic("orders"),)), cast(Connections, None), NOBODY)
    assert [stage.topics for stage in (found, *found.later)] == [(), (), (missing,)]
    assert len(titles) == 3
    assert "topic: " in str(AgreedPlan.of(found, wanted).steps)
