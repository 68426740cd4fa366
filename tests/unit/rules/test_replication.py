"""The borders of min.insync.replicas, and a cluster of one broker."""

from __future__ import annotations

import pytest

from kcluster.model.topic import Topic
from kcluster.rules import replication
from tests.unit.rules.sound_cluster import cluster


@pytest.mark.parametrize(
    ("number", "fine"), [("1", True), ("2", True), ("3", False), ("4", False), ("not a number", True)]
)
def test_one_replica_may_always_be_down(number: str, fine: bool) -> None:
    assert (list(replication.min_insync_below_replication_factor(cluster(min_insync_replicas=number))) == []) is fine


def test_a_single_broker_may_have_single_replicas() -> None:
    single = cluster(brokers=1, topics=(Topic("a", 1, 1),))
    assert [finding for rule in replication.RULES for finding in rule(single)] == []
