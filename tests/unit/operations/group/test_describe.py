"""How far a group is in each partition."""

from kcluster.clients.kafka.groups import ConsumerGroup, GroupMember
from kcluster.operations.group.describe import GroupDescription
from kcluster.operations.group.lag import positions

MEMBER = GroupMember("m-1", "app", "10.0.0.1", "", (("orders", 0), ("orders", 1)))


def described():
    places = positions(
        {("orders", 0): 40, ("orders", 2): 7},
        dict.fromkeys(MEMBER.assignment, MEMBER),
        {("orders", 0): 100, ("orders", 1): 50, ("orders", 2): 5},
    )
    return GroupDescription(ConsumerGroup("g", "Stable", "Classic", "range", 2, "host:9092", (MEMBER,)), places)


def test_lag_is_known_only_where_something_was_committed():
    lags = {(p.topic, p.partition): p.lag for p in described().positions}
    assert lags == {("orders", 0): 60, ("orders", 1): None, ("orders", 2): 0}
    assert described().total_lag == 60


def test_a_partition_without_a_commit_shows_dashes():
    _, grid = described().view()
    assert [getattr(cell, "text", cell) for cell in grid.rows[1][:5]] == ["orders", "1", "-", "50", "-"]


def test_the_data_names_members_and_partitions():
    data = described().data()
    assert data["coordinator"] == {"id": 2, "address": "host:9092"}
    assert data["members"][0]["assignment"] == [
        {"topic": "orders", "partition": 0},
        {"topic": "orders", "partition": 1},
    ]
    assert data["partitions"][2] == {
        "topic": "orders",
        "partition": 2,
        "committed": 7,
        "end_offset": 5,
        "lag": 0,
        "member_id": None,
    }
