from __future__ import annotations

from collections import Counter

import pytest

from kcluster.smoke.temporary_topic import replicas


@pytest.mark.parametrize("brokers", [[1], [1, 2], [1, 2, 3], [4, 7, 9, 12, 30]])
def test_each_broker_leads_one_partition_and_all_carry_the_same(brokers: list[int]) -> None:
    assignment = replicas(brokers)
    assert [copies[0] for copies in assignment] == brokers
    assert all(len(set(copies)) == min(3, len(brokers)) for copies in assignment)
    assert set(Counter(broker for copies in assignment for broker in copies).values()) == {min(3, len(brokers))}
