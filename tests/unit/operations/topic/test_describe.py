"""What is said about partitions that are not well."""

import pytest

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.operations.topic.describe import Description, TopicFault, faults, in_bytes
from kcluster.operations.topic.list import TopicList
from kcluster.results import Grid

WELL = Partition(0, 1, (1, 2, 3), (1, 2, 3))
BEHIND = Partition(1, 2, (2, 3, 1), (2, 1), offline=(3,))
THIN = Partition(2, 2, (3, 1, 2), (2,), offline=(3, 1))
GONE = Partition(3, None, (1, 2, 3), (1,), offline=(1,))


def topic(*partitions, config=None):
    return TopicState("orders", partitions, config or {}, min_isr=2)


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        (WELL, []),
        (BEHIND, [TopicFault.UNDER_REPLICATED]),
        (THIN, [TopicFault.UNDER_MIN_ISR, TopicFault.UNDER_REPLICATED, TopicFault.NOT_PREFERRED]),
        (GONE, [TopicFault.OFFLINE, TopicFault.UNDER_MIN_ISR, TopicFault.UNDER_REPLICATED]),
    ],
)
def test_faults_are_named_the_worst_first(partition, expected):
    assert faults(topic(partition), partition) == expected


def test_a_replication_factor_below_min_isr_is_not_called_under_min_isr_while_all_replicas_are_there():
    single = Partition(0, 1, (1,), (1,))
    assert faults(topic(single), single) == []


def test_the_list_says_in_a_word_what_is_wrong():
    (grid,) = TopicList([topic(WELL, BEHIND), topic(BEHIND, THIN), topic(WELL, GONE), topic(WELL)]).view()
    assert [row[-1].text for row in grid.rows] == [
        "1 under-replicated",
        "1 under min ISR, 2 under-replicated",
        "1 offline, 1 under min ISR, 1 under-replicated",
        "ok",
    ]


def test_the_data_of_the_list_has_null_where_the_config_may_not_be_read():
    unread = TopicState("orders", (BEHIND,))
    well = TopicState("orders", (WELL,))  # its config is not asked for
    assert [row["under_min_isr"] for row in TopicList([topic(THIN), unread, well]).data()] == [1, None, 0]


def test_the_description_shows_replicas_in_preferred_order_with_their_racks():
    shown = Description([topic(BEHIND, config={"retention.ms": "1"})], {1: "a", 2: "b", 3: "c"}, {("orders", 1): 2048})
    headline, prop, grid = shown.view()
    assert headline == "orders: 1 partition, replication factor 3, min ISR 2"
    assert prop == "  retention.ms=1"
    row = dict(zip(grid.columns, (getattr(cell, "text", cell) for cell in grid.rows[0]), strict=True))
    assert row["REPLICAS"] == "2,3,1"
    assert row["RACKS"] == "b,c,a"
    assert row["OFFLINE"] == "3"
    assert row["SIZE"] == "2.0 KiB"
    assert row["STATE"] == "under-replicated"


def test_a_filter_leaves_only_the_partitions_it_asks_for():
    shown = Description([topic(WELL, BEHIND, GONE)], {}, {}, [TopicFault.OFFLINE])
    assert [part["partition"] for entry in shown.data() for part in entry["partitions"]] == [3]


def test_a_partition_that_may_lose_no_replica_is_selected_and_is_no_fault():
    at_least = Partition(4, 1, (1, 2, 3), (1, 2))
    few = Partition(5, 1, (1,), (1,))
    shown = Description([topic(WELL, at_least, few, THIN)], {}, {}, [TopicFault.AT_MIN_ISR])
    (entry,) = shown.data()
    assert [part["partition"] for part in entry["partitions"]] == [4, 5]
    assert TopicFault.AT_MIN_ISR not in faults(topic(at_least), at_least)


def test_a_filter_that_finds_nothing_says_so():
    (word,) = Description([topic(WELL)], {}, {}, [TopicFault.UNDER_MIN_ISR]).view()
    assert word.text == "no partition is under min ISR"


def test_without_the_right_to_read_the_configuration_the_rest_is_shown():
    blocks = list(Description([TopicState("orders", (WELL,), None)], {}, {}).view())
    assert blocks[1].text.strip() == "no permission to read its config"
    assert isinstance(blocks[2], Grid)


def test_the_data_is_flat_and_complete():
    (entry,) = Description([topic(BEHIND)], {2: "b"}, {}).data()
    assert entry["partitions"] == [
        {
            "partition": 1,
            "leader": 2,
            "replicas": (2, 3, 1),
            "isr": (2, 1),
            "offline_replicas": (3,),
            "racks": ["b", "", ""],
            "start_offset": None,
            "end_offset": None,
            "size_bytes": None,
            "faults": [TopicFault.UNDER_REPLICATED],
        }
    ]


@pytest.mark.parametrize(("size", "words"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**41, "2.0 TiB")])
def test_sizes_are_said_as_people_say_them(size, words):
    assert in_bytes(size) == words
