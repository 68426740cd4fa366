"""What `topic alter` plans and refuses."""

import pytest

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.errors import RefusedError, UsageError
from kcluster.model.topic_change import TopicAction
from kcluster.operations.topic.alter import alter, configure, grow

STATE = TopicState("orders", (Partition(0, 1, (1,), (1,)), Partition(1, 1, (1,), (1,))), {"retention.ms": "1"})


def test_more_partitions_come_with_the_warning_about_keys():
    (change,) = grow(STATE, 5)
    assert (change.action, change.before, change.after) == (TopicAction.GROW, "2", "5")
    assert "key" in change.note


def test_fewer_partitions_are_refused():
    with pytest.raises(RefusedError, match="orders has 2 partitions; partitions only grow"):
        list(grow(STATE, 1))


@pytest.mark.parametrize("partitions", [None, 2])
def test_the_same_number_needs_no_step(partitions):
    assert list(grow(STATE, partitions)) == []


def test_properties_are_set_and_unset_where_they_differ():
    changes = list(configure(STATE, {"cleanup.policy": "compact"}, ["retention.ms", "retention.bytes"]))
    assert [(c.action, c.what, c.before, c.after) for c in changes] == [
        (TopicAction.SET, "cleanup.policy", "", "compact"),
        (TopicAction.UNSET, "retention.ms", "1", ""),
        (TopicAction.KEEP, "retention.bytes", "", ""),
    ]


def test_a_property_cannot_be_set_and_unset_at_once():
    with pytest.raises(UsageError, match=r"`retention\.ms` is given to --config and --unset"):
        list(configure(STATE, {"retention.ms": "2"}, ["retention.ms"]))


def test_an_alteration_without_any_change_is_a_usage_error():
    with pytest.raises(UsageError, match="no change is given"):
        alter(None, "orders", None, {})
