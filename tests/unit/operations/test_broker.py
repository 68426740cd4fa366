"""What is told about brokers, from what they and the cluster say."""

from types import SimpleNamespace as Fake

import pytest

from kcluster.clients.wire import Replica, Versions
from kcluster.facts.brokers import Answers, release_of, sizes_of
from kcluster.operations.broker import BrokerConfig, BrokerList, rows
from kcluster.operations.broker import BrokerProperty as Setting


def ranges(produce, fetch, list_offsets, commit):
    return Versions({0: (0, produce), 1: fetch, 2: (0, list_offsets), 8: (0, commit)})


@pytest.mark.parametrize(
    ("versions", "release"),
    [
        (ranges(11, (0, 17), 9, 9), "3.9"),
        (ranges(12, (4, 17), 10, 9), "4.0"),
        (ranges(13, (4, 18), 10, 9), "4.1"),
        (ranges(13, (4, 18), 11, 10), "4.2"),
        (ranges(14, (4, 18), 11, 10), "4.2+"),
        (ranges(9, (0, 13), 7, 8), "older than 3.9"),
        (None, None),
    ],
)
def test_the_release_is_told_by_the_requests_a_broker_takes(versions, release):
    assert release_of(versions) == release


def partition(leader, *replicas):
    return Fake(leader=leader, replicas=replicas)


METADATA = Fake(
    brokers={1: Fake(host="a", port=9092), 2: Fake(host="b", port=9092)},
    topics={"orders": Fake(partitions={0: partition(1, 1, 2), 1: partition(2, 2, 3)})},
)
ANSWERS = {1: Answers(ranges(11, (0, 17), 9, 9), [Replica("orders", 0, 100, 0, "/d")]), 2: Answers(None, None)}


def test_partitions_leaders_and_sizes_are_counted_per_broker():
    first, second, gone = rows(METADATA, {1: "r1"}, ANSWERS, 1)
    assert (first.partitions, first.leaders, first.size_bytes, first.version) == (1, 1, 100, "3.9")
    assert (first.address, first.rack, first.controller) == ("a:9092", "r1", True)
    assert (second.partitions, second.leaders, second.size_bytes, second.version) == (2, 1, None, None)
    assert (gone.id, gone.address, gone.partitions) == (3, "", 1)


def test_a_broker_that_is_missed_is_shown_as_not_there_and_unknown_things_as_dashes():
    (grid,) = BrokerList("id", rows(METADATA, {}, ANSWERS, 1)).view()
    words = [[getattr(cell, "text", cell) for cell in row] for row in grid.rows]
    assert words[1] == ["2", "b:9092", "", "", "-", "2", "1", "-"]
    assert words[2][1] == "not registered"


def test_in_kraft_mode_no_broker_is_controller_and_the_quorum_is_named():
    listed = BrokerList("id", rows(METADATA, {}, ANSWERS, None), quorum_leader=3000)
    assert [row["controller"] for row in listed.data()["brokers"]] == [None, None, None]
    assert list(listed.view())[-1] == "controller 3000 leads the KRaft quorum"


def test_the_size_of_a_partition_is_what_its_leader_says():
    answers = {1: Answers(None, [Replica("t", 0, 10, 0, "/d")]), 2: Answers(None, [Replica("t", 0, 7, 3, "/d")])}
    assert sizes_of({("t", 0): 2, ("t", 1): None, ("u", 0): 1}, answers) == {("t", 0): 7}


def test_defaults_that_are_not_shown_are_counted():
    settings = BrokerConfig(1, [Setting("log.dirs", "/d", "static", False, True)], 304)
    *_, last = settings.view()
    assert last.text == "304 properties at their default are not shown; use --all"
