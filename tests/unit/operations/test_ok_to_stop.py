from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.errors import ExitCode, RefusedError, UsageError
from kcluster.model.spark_cluster import SparkCluster, SparkWorker
from kcluster.operations import ok_to_stop
from tests.unit.fake_hosts import MISSING, Hosts
from tests.unit.fake_snapshots import CLUSTER, SIX, snapshot

RACKED = replace(CLUSTER, brokers=tuple(replace(each, rack="ab"[each.id % 2]) for each in SIX))


class OneMoment:
    """Gates that know what a cluster answered at one moment."""

    def __init__(self, cluster=CLUSTER, **given):
        self.cluster, self.given = cluster, given

    def snapshot(self, nodes, candidates):
        self.asked = [node.name for node in (*nodes, *candidates)]
        return snapshot(**self.given)


def judged(*names, most=None, gates=None, hosts=None):
    return ok_to_stop.judged(gates or OneMoment(), names, hosts or Hosts(), most)


def test_a_broker_may_stop_with_those_that_share_no_partition_with_it():
    verdict = judged("broker-1")
    assert (verdict.ok, verdict.exit_code, verdict.unit) == (True, ExitCode.DONE, "node")
    assert verdict.safe_set == ("broker-1", "broker-2")
    assert judged("broker-1", most=1).safe_set == ("broker-1",)
    assert [str(getattr(block, "text", block)) for block in verdict.view()] == [
        "safe to stop together: broker-1, broker-2 (2 nodes)",
        "trio: broker-1 may stop now",
    ]


def test_two_brokers_that_share_a_partition_may_not_and_the_reasons_name_it():
    verdict = judged("broker-1", "broker-3")
    assert (verdict.ok, verdict.exit_code, verdict.safe_set) == (False, ExitCode.NO, ())
    reasons = {reason["text"]: reason["partitions"] for reason in verdict.data()["reasons"]}
    assert reasons["in-sync replicas would fall below min.insync.replicas"] == ("orders-0", "orders-3")
    assert "broker-1 and broker-3 together hold too many replicas of these partitions" in reasons
    assert "trio: broker-1 and broker-3 may not stop now" in str(list(verdict.view())[-1])


def test_a_host_counts_with_all_its_nodes_and_the_set_grows_by_hosts():
    verdict = judged("h2")
    assert (verdict.nodes, verdict.unit) == (("zookeeper-2", "broker-2"), "host")
    assert verdict.safe_set == ("h2", "h1")
    assert judged("h6", "h1").safe_set == (), "they share orders-3"


def test_hosts_with_spark_are_not_added_and_may_stop_themselves():
    spark = SparkCluster("trio", (), (SparkWorker(host=SIX[0].host), SparkWorker(host=replace(SIX[0].host, name="h9"))))
    cluster = replace(CLUSTER, engine=spark)
    assert judged("h2", gates=OneMoment(cluster)).safe_set == ("h2", "h3")
    assert judged("spark-worker-h9", gates=OneMoment(cluster)).safe_set == ("spark-worker-h9",)
    assert judged("h1", gates=OneMoment(cluster)).nodes == ("zookeeper-1", "broker-1", "spark-worker-h1")


def test_what_is_in_the_same_rack_is_added_first():
    gates = OneMoment(RACKED)
    judged("broker-1", gates=gates)
    assert gates.asked == [f"broker-{number}" for number in (1, 3, 5, 2, 4, 6)]


def test_wrong_names_and_numbers_and_missing_units_are_refused():
    with pytest.raises(UsageError, match="has no node or host broker-9"):
        judged("broker-9")
    with pytest.raises(UsageError, match="--max 1 is less than what is named: 2 nodes"):
        judged("broker-1", "broker-2", most=1)
    with pytest.raises(UsageError, match="--max 1 is less than what is named: 2 hosts"):
        judged("h1", "h2", most=1)
    with pytest.raises(RefusedError, match="not installed"):
        judged("broker-1", hosts=Hosts({("h1", "kafka"): MISSING}))
    assert judged("h1", "h1", most=1).ok
