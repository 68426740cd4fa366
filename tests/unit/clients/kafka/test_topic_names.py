"""Names and key=value words from the command line."""

import pytest

from kcluster.clients.kafka import topic_names
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import RefusedError, UsageError


def test_the_nearest_names_are_offered_for_an_unknown_topic():
    states = {name: TopicState(name, ()) for name in ("orders", "order-lines", "payments")}
    with pytest.raises(UsageError, match="there is no topic ordres") as caught:
        topic_names.pick(states, ["ordres"])
    assert caught.value.resolution.startswith("did you mean orders")


def test_without_a_near_name_the_list_is_the_way_on():
    with pytest.raises(UsageError) as caught:
        topic_names.pick({}, ["orders"])
    assert caught.value.resolution == "kcluster topic list"


def test_a_topic_named_twice_is_taken_once():
    state = TopicState("orders", ())
    assert topic_names.pick({"orders": state}, ["orders", "orders"]) == [state]


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "x" * 250])
def test_a_name_kafka_refuses_is_refused_before_asking(name):
    with pytest.raises(UsageError):
        topic_names.valid(name)


def test_internal_topics_are_not_for_us():
    with pytest.raises(RefusedError, match="__consumer_offsets is an internal topic"):
        topic_names.not_internal("__consumer_offsets", "delete")


def test_settings_keep_equals_signs_in_values():
    assert topic_names.settings(["a=b=c", " x = 1 "]) == {"a": "b=c", "x": "1"}


@pytest.mark.parametrize("word", ["retention.ms", "=1"])
def test_a_word_that_is_not_a_setting_is_named(word):
    with pytest.raises(UsageError, match=f"`{word}` is not KEY=VALUE"):
        topic_names.settings([word])


def test_an_unknown_property_is_answered_with_the_nearest_even_on_an_empty_cluster(monkeypatch):
    monkeypatch.setattr(topic_names, "property_names", lambda kafka: [])
    said = RefusedError("the cluster refused it: Unknown topic config name: retention.mss", details="INVALID_CONFIG")
    problem = topic_names.explained(None, said)
    assert problem.message == "`retention.mss` is not a topic property"
    assert problem.resolution.startswith("did you mean retention.ms")


def test_a_value_the_brokers_refuse_is_a_usage_error_in_their_words():
    said = RefusedError(
        "the cluster refused it: Invalid value x for configuration retention.ms", details="INVALID_CONFIG"
    )
    problem = topic_names.explained(None, said)
    assert isinstance(problem, UsageError)
    assert problem.message == "invalid value x for configuration retention.ms"
