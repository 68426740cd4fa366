"""What the plan says for each way in which declared and existing topics differ."""

import pytest

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.errors import RefusedError
from kcluster.model.topic import Topic
from kcluster.model.topic_change import TopicAction
from kcluster.operations.topic.plan import difference, same


def existing(name="orders", partitions=3, factor=3, config=None):
    replicas = tuple(range(1, factor + 1))
    parts = tuple(Partition(number, 1, replicas, replicas) for number in range(partitions))
    return {name: TopicState(name, parts, {} if config is None else config, min_isr=2)}


def lines(plan):
    return [(change.action, change.topic, change.what, change.before, change.after) for change in plan.changes]


def test_a_missing_topic_is_created_with_everything_that_was_declared():
    plan = difference([Topic("orders", 6, 3, {"retention.ms": "1"})], {})
    assert lines(plan) == [(TopicAction.CREATE, "orders", "", "", "6 partitions, replication factor 3, retention.ms=1")]
    assert plan.steps == plan.changes


def test_a_topic_as_declared_needs_nothing():
    plan = difference([Topic("orders", 3, 3)], existing())
    assert plan.changes == []
    assert [block.text for block in plan.view() if hasattr(block, "text")] == ["nothing to do"]


def test_partitions_grow_with_the_warning_about_keys():
    (change,) = difference([Topic("orders", 6, 3)], existing()).changes
    assert (change.action, change.before, change.after) == (TopicAction.GROW, "3", "6")
    assert "key" in change.note


def test_fewer_partitions_and_another_replication_factor_are_told_and_not_changed():
    plan = difference([Topic("orders", 2, 2)], existing())
    assert lines(plan) == [
        (TopicAction.KEEP, "orders", "partitions", "3", "2"),
        (TopicAction.KEEP, "orders", "replication factor", "3", "2"),
    ]
    assert plan.steps == []


def test_a_property_is_set_only_where_it_differs():
    declared = Topic("orders", 3, 3, {"retention.ms": "2", "cleanup.policy": "compact, delete"})
    plan = difference([declared], existing(config={"retention.ms": "1", "cleanup.policy": "compact,delete"}))
    assert lines(plan) == [(TopicAction.SET, "orders", "retention.ms", "1", "2")]


def test_a_property_that_is_not_declared_stays_and_is_unset_only_with_prune():
    state = existing(config={"retention.ms": "1"})
    assert lines(difference([Topic("orders", 3, 3)], state))[0][0] is TopicAction.KEEP
    assert lines(difference([Topic("orders", 3, 3)], state, prune=True)) == [
        (TopicAction.UNSET, "orders", "retention.ms", "1", "")
    ]


def test_topics_that_are_not_declared_are_deleted_only_with_prune():
    state = existing("stranger")
    assert difference([], state).steps == []
    assert difference([], state).undeclared == ["stranger"]
    assert difference([], state, prune=True).deletions == ["stranger"]


def test_internal_topics_are_never_touched():
    state = existing("__consumer_offsets")
    plan = difference([Topic("__mine", 1, 1)], state, prune=True)
    assert plan.changes == []
    assert plan.undeclared == ()


def test_without_the_right_to_read_the_configuration_there_is_no_plan():
    hidden = {"orders": TopicState("orders", (), None)}
    with pytest.raises(RefusedError, match="no permission to read the config of topic orders"):
        difference([Topic("orders", 0, 0)], hidden)


@pytest.mark.parametrize(("one", "other", "equal"), [("a,b", "a, b", True), ("a", "b", False), (None, "", False)])
def test_values_are_compared_as_kafka_keeps_them(one, other, equal):
    assert same(one, other) is equal
