"""The defaults kcluster chooses for production, each with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass

from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.node import Kind


@dataclass(frozen=True)
class Default:
    """A property with the value kcluster gives it when nobody says otherwise, and why."""

    key: str
    value: str
    why: str


def replication_factor(brokers: int) -> int:
    """How many copies a topic gets: three, or one on each broker when there are fewer."""
    return min(3, brokers)


def min_insync_replicas(brokers: int) -> int:
    """How many copies must be written before a write counts: one may always be missing."""
    return max(1, replication_factor(brokers) - 1)


def for_kind(cluster: Cluster, kind: Kind) -> tuple[Default, ...]:
    """The defaults of one kind of node, in the order in which they are written."""
    if kind is Kind.ZOOKEEPER:
        return ZOOKEEPER
    topics = _topics(len(cluster.brokers)) + (_share_groups(len(cluster.brokers)) if _has_share_groups(cluster) else ())
    if kind is Kind.CONTROLLER:
        return topics
    return topics + BROKER + (_ZOOKEEPER_MODE if isinstance(cluster.metadata, Ensemble) else ())


def _has_share_groups(cluster: Cluster) -> bool:
    return cluster.release.numbers >= (4, 0)


ZOOKEEPER = (
    Default("tickTime", "2000", "a session may last 2 to 20 ticks, and the brokers ask for 18 s"),
    Default("initLimit", "10", "ticks a follower may take to load the first snapshot; has no default and must be set"),
    Default("syncLimit", "5", "ticks a follower may lag before it is dropped; has no default and must be set"),
    Default("autopurge.snapRetainCount", "5", "how many snapshots are kept to recover from"),
    Default(
        "autopurge.purgeInterval", "1", "purge every hour; by default nothing is ever purged and the disk fills up"
    ),
    Default("maxClientCnxns", "100", "connections of one address; Kafka ships 0, which is no limit at all"),
    Default("4lw.commands.whitelist", "srvr,ruok,mntr,conf,stat,isro", "the questions health checks ask, no others"),
    Default("admin.enableServer", "false", "its port 8080 collides with others and nothing needs it"),
    Default("standaloneEnabled", "false", "a server of an ensemble must never serve alone"),
    Default("reconfigEnabled", "false", "the members come from the inventory, not from a client"),
)
"""ZooKeeper ships defaults for a trial, not for an ensemble."""

BROKER = (
    Default("log.retention.hours", "168", "records are kept for 7 days when the topic does not say otherwise"),
    Default("num.replica.fetchers", "2", "a follower that was away catches up faster than with one"),
    Default(
        "num.recovery.threads.per.data.dir", "4", "decides how long a start takes after a crash; Kafka's is 1 or 2"
    ),
    Default("controlled.shutdown.enable", "true", "a broker hands its leaderships over before it stops"),
    Default("auto.leader.rebalance.enable", "true", "leaders go back to the preferred replica after a restart"),
    Default("group.initial.rebalance.delay.ms", "3000", "members of a new group are awaited; the shipped file says 0"),
)

_ZOOKEEPER_MODE = (
    Default("zookeeper.session.timeout.ms", "18000", "within 2 to 20 ticks of ZooKeeper, which clamps it silently"),
    Default("zookeeper.connection.timeout.ms", "18000", "a start waits as long as a session lives"),
    Default("broker.id.generation.enable", "false", "ids are written in the inventory, never generated"),
)


def _topics(brokers: int) -> tuple[Default, ...]:
    """What topics are made of; the controllers must know the same values as the brokers."""
    copies, written = str(replication_factor(brokers)), str(min_insync_replicas(brokers))
    many = _because(brokers)
    return (
        Default("default.replication.factor", copies, f"{many} of a topic that does not say otherwise; Kafka's is 1"),
        Default(
            "min.insync.replicas", written, f"copies that must be written before a write counts; {_spare(brokers)}"
        ),
        Default("unclean.leader.election.enable", "false", "true throws acknowledged records away"),
        Default("auto.create.topics.enable", "false", "a misspelt name would become a topic"),
        Default("num.partitions", "3", "partitions of a topic that does not say otherwise; they can only grow"),
        Default("delete.topic.enable", "true", "kcluster asks before it deletes"),
        Default("offsets.topic.replication.factor", copies, f"{many} of the groups' offsets; fixed at first use"),
        Default("transaction.state.log.replication.factor", copies, f"{many} of the transactions' state"),
        Default("transaction.state.log.min.isr", written, f"copies a transaction needs; {_spare(brokers)}"),
    )


def _share_groups(brokers: int) -> tuple[Default, ...]:
    return (
        Default(
            "share.coordinator.state.topic.replication.factor",
            str(replication_factor(brokers)),
            f"{_because(brokers)} of the share groups' state",
        ),
        Default(
            "share.coordinator.state.topic.min.isr",
            str(min_insync_replicas(brokers)),
            f"copies a share group's state needs; {_spare(brokers)}",
        ),
    )


def _because(brokers: int) -> str:
    if brokers >= 3:
        return "three copies"
    return "one copy (there is only one broker)" if brokers == 1 else "two copies (there are only two brokers)"


def _spare(brokers: int) -> str:
    return "one broker may be away" if brokers > 1 else "there is only one broker"


SHARED_WITH_CONTROLLERS = frozenset(
    (
        *(default.key for default in _topics(3) + _share_groups(3)),
        "authorizer.class.name",
        "super.users",
        "allow.everyone.if.no.acl.found",
        "message.max.bytes",
        "log.retention.hours",
        "log.retention.ms",
        "log.retention.bytes",
        "log.segment.bytes",
        "log.cleanup.policy",
        "compression.type",
        "principal.builder.class",
    )
)
"""What the controllers must know as well when people set it for the brokers (4.1 and later take the cluster's
`min.insync.replicas` from a controller's file, whatever the brokers' files say)."""
