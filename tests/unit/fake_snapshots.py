"""A cluster of six brokers and five ZooKeeper servers, and what it answered at one moment."""

from __future__ import annotations

from dataclasses import replace

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.running import Running
from kcluster.rollout.gate_rules import ClusterView
from kcluster.rollout.snapshot import QuorumAnswers, Snapshot
from tests.unit.fake_hosts import BROKERS, TRIO

SIX = tuple(replace(BROKERS[0], host=Host(f"h{number}", "x"), id=number) for number in range(1, 7))
SERVERS = tuple(Server(host=Host(f"h{number}", "x"), id=number) for number in range(1, 6))
CLUSTER = replace(TRIO, metadata=Ensemble(SERVERS), brokers=SIX)
FOLLOWER = {"zk_server_state": "follower"}
MONITORS = {"zookeeper-1": {"zk_server_state": "leader", "zk_synced_followers": "4"}} | {
    f"zookeeper-{number}": FOLLOWER for number in range(2, 6)
}


def partition(number, *replicas):
    return Partition(number, replicas[0], replicas, replicas)


ORDERS = TopicState(
    "orders", (partition(0, 1, 3, 5), partition(1, 2, 4, 6), partition(2, 1, 4, 5), partition(3, 1, 3, 6))
)
"""Only broker 2 shares no partition with broker 1."""


def snapshot(**given):
    views = {number: ClusterView(number, frozenset(range(1, 7)), 2, {"orders": ORDERS}) for number in range(1, 7)}
    answers = QuorumAnswers(CLUSTER.metadata, MONITORS)
    return Snapshot(
        **{"running": Running(CLUSTER), "quorum": answers, "views": views, "min_isr": {"orders": 2}} | given
    )
