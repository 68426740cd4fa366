"""From where a group goes on: the words of --to, and the plan they make."""

import re

import pytest

from kcluster.clients.kafka.groups import ConsumerGroup, GroupMember
from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.errors import RefusedError, UsageError
from kcluster.operations.group.reset import (
    OffsetMove,
    ResetPosition,
    ResetTarget,
    moves,
    require_idle,
    reset_position,
    selected_partitions,
)

PLACE = ("orders", 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("earliest", ResetPosition(ResetTarget.EARLIEST)),
        ("latest", ResetPosition(ResetTarget.LATEST)),
        ("0", ResetPosition(ResetTarget.OFFSET, 0)),
        ("-50", ResetPosition(ResetTarget.SHIFT, -50)),
        ("+50", ResetPosition(ResetTarget.SHIFT, 50)),
        ("1970-01-01T00:00:01Z", ResetPosition(ResetTarget.TIME, 1000)),
        ("1970-01-01T01:00:01+01:00", ResetPosition(ResetTarget.TIME, 1000)),
        ("1970-01-01T00:00:01", ResetPosition(ResetTarget.TIME, 1000)),
    ],
)
def test_a_place_to_go_on_from_is_understood(text, expected):
    assert reset_position(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "1.5", "--5", "2026-13-01"])
def test_what_is_no_place_is_refused_by_name(text):
    with pytest.raises(UsageError, match=re.escape(f"--to {text}: use earliest, latest")):
        reset_position(text)


def move(target, committed=None, start=10, end=100, at_time=-1):
    before = {} if committed is None else {PLACE: committed}
    (found,) = moves(target, [PLACE], before, {PLACE: start}, {PLACE: end}, {PLACE: at_time})
    return found


@pytest.mark.parametrize(
    ("target", "committed", "after"),
    [
        (ResetPosition(ResetTarget.EARLIEST), 50, 10),
        (ResetPosition(ResetTarget.LATEST), 50, 100),
        (ResetPosition(ResetTarget.OFFSET, 70), None, 70),
        (ResetPosition(ResetTarget.SHIFT, -20), 50, 30),
        (ResetPosition(ResetTarget.SHIFT, 20), 50, 70),
    ],
)
def test_the_new_offset_follows_from_the_goal(target, committed, after):
    assert move(target, committed).after == after


@pytest.mark.parametrize(
    ("target", "after"), [(ResetPosition(ResetTarget.OFFSET, 5), 10), (ResetPosition(ResetTarget.SHIFT, 99), 100)]
)
def test_an_offset_outside_the_log_is_brought_inside_and_told(target, after):
    found = move(target, committed=50)
    assert found.after == after
    assert "outside the offsets 10 to 100" in found.note


def test_a_time_after_the_last_record_is_the_end():
    assert move(ResetPosition(ResetTarget.TIME, 5), at_time=-1).after == 100
    assert move(ResetPosition(ResetTarget.TIME, 5), at_time=42).after == 42


def test_without_a_commit_there_is_nothing_to_shift_from():
    assert move(ResetPosition(ResetTarget.SHIFT, -5)).after is None


def test_a_partition_without_a_leader_stays():
    (found,) = moves(ResetPosition(ResetTarget.EARLIEST), [PLACE], {}, {}, {}, {})
    assert found == OffsetMove("orders", 0, None, None, "no leader")


STATES = {"orders": TopicState("orders", tuple(Partition(number, 1, (1,), (1,)) for number in range(3)))}


def test_partitions_are_chosen_by_topic_and_by_number():
    assert selected_partitions(STATES, ["orders"]) == [("orders", 0), ("orders", 1), ("orders", 2)]
    assert selected_partitions(STATES, ["orders:2,0", "orders:0"]) == [("orders", 2), ("orders", 0)]


def test_a_partition_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="orders has no partition 3"):
        selected_partitions(STATES, ["orders:3"])


def test_a_partition_that_is_no_number_is_a_usage_error():
    with pytest.raises(UsageError, match="--topic orders:all: use TOPIC"):
        selected_partitions(STATES, ["orders:all"])


def group(state, *members):
    return ConsumerGroup("g", state, "Classic", "range", 1, "host:1", members)


def test_an_active_group_is_refused_and_its_members_are_named():
    with pytest.raises(RefusedError, match="g is Stable with 1 member") as caught:
        require_idle(group("Stable", GroupMember("m-1", "app", "10.0.0.1", "", (PLACE,))))
    assert caught.value.details == "app on 10.0.0.1"


def test_an_empty_group_may_be_reset():
    assert require_idle(group("Empty")).name == "g"
