"""Sets of brokers that may stop together: as the gate allows, as large as can be, and found quickly."""

from __future__ import annotations

import random
import time

import pytest

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.rollout import gate_rules
from kcluster.rollout.gate_rules import ClusterView
from kcluster.rollout.safe_sets import SpareReplicas


def view(*partitions, broker=1):
    """What a broker knows: one topic for each partition, given as its replicas and those in sync."""
    topics = {
        f"t{number}": TopicState(f"t{number}", (Partition(0, isr[0] if isr else None, tuple(replicas), tuple(isr)),))
        for number, (replicas, isr) in enumerate(partitions)
    }
    return ClusterView(broker, frozenset(range(1, 7)), 1, topics)


def taken(views, *groups, min_isr=2, unsafe_partitions=False):
    """Which of these groups a set takes, one after the other."""
    by_topic = {name: min_isr for view in views for name in view.topics}
    spare = SpareReplicas(views, by_topic, unsafe_partitions=unsafe_partitions)
    return [spare.take(group) for group in groups]


WHOLE = ((1, 2, 3), (1, 2, 3))


@pytest.mark.parametrize(
    ("partitions", "groups", "expected"),
    [
        ([WHOLE], [{1}, {2}], [True, False]),
        ([WHOLE, ((4, 5, 6), (4, 5, 6))], [{1}, {4}, {2}, {5}], [True, True, False, False]),
        ([WHOLE], [{1, 2}, {3}], [False, True]),
        ([((1, 2, 3), (1, 2))], [{1}, {3}], [False, True]),
        ([((1, 2, 3), (1,))], [{3}, {4}], [False, True]),
        ([((1, 2, 3), (2, 3))], [{1}, {2}], [True, False]),
        ([((1, 2, 3, 4), (1, 2, 3, 4))], [{1}, {2}, {3}], [True, True, False]),
        ([], [{1}, {2}, {3, 4, 5}], [True, True, True]),
    ],
)
def test_a_set_grows_while_every_partition_keeps_min_isr(partitions, groups, expected):
    assert taken([view(*partitions)], *groups) == expected


def test_what_one_broker_knows_to_be_out_of_sync_counts():
    assert taken([view(WHOLE), view(((1, 2, 3), (1, 2)))], {1}, {3}) == [False, True]


def test_min_isr_that_may_not_be_read_spares_nothing():
    assert taken([view(WHOLE)], {1}, {4}, min_isr=None) == [False, True]


def test_a_partition_without_a_spare_replica_goes_alone_when_the_user_accepts_it():
    single, pair = ((1,), (1,)), ((2, 3), (2, 3))
    assert taken([view(single)], {1}, min_isr=1) == [False]
    assert taken([view(single)], {1}, min_isr=1, unsafe_partitions=True) == [True]
    assert taken([view(pair)], {2}, {3}, unsafe_partitions=True) == [True, False]
    assert taken([view(((2, 3), (2,)))], {2}, unsafe_partitions=True) == [False], "the other replica may catch up"


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("unsafe_partitions", [False, True])
def test_a_grown_set_is_what_the_gate_allows_and_nothing_can_be_added(seed, unsafe_partitions):
    pick = random.Random(seed)
    partitions = []
    for _ in range(8):
        replicas = pick.sample(range(1, 10), pick.choice((1, 2, 3, 3, 3)))
        partitions.append((replicas, [number for number in replicas if pick.random() < 0.9]))
    views = [view(*partitions), view(*partitions[1:])]
    min_isr = {name: pick.choice((1, 2, 2)) for name in views[0].topics}
    spare = SpareReplicas(views, min_isr, unsafe_partitions=unsafe_partitions)
    together = [number for number in range(1, 10) if spare.take({number})]

    def risky(brokers):
        return list(gate_rules.isr_at_risk(brokers, views, min_isr, unsafe_partitions=unsafe_partitions))

    assert not risky(set(together))
    if not unsafe_partitions:
        assert all(risky({*together, other}) for other in set(range(1, 10)) - set(together))


def test_a_set_of_300_brokers_with_10_000_partitions_is_found_in_less_than_a_second():
    """Three racks of 100; each partition has a replica in each rack."""
    pick = random.Random(1)
    racks = [range(1, 101), range(101, 201), range(201, 301)]
    replicas = [tuple(pick.choice(rack) for rack in racks) for _ in range(10_000)]
    big = view(*((each, each) for each in replicas))
    began = time.process_time()
    spare = SpareReplicas([big], dict.fromkeys(big.topics, 2), unsafe_partitions=False)
    together = [number for number in range(1, 301) if spare.take({number})]
    assert time.process_time() - began < 1
    assert set(racks[0]) <= set(together)
    assert not list(gate_rules.isr_at_risk(together, [big], dict.fromkeys(big.topics, 2), unsafe_partitions=False))
