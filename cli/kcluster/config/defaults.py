"""The defaults kcluster chooses for production, each with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass

from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.node import Kind
from kcluster.results import counted


@dataclass(frozen=True)
class Default:
    """A property with the value that kcluster sets unless the inventory does, and the reason."""

    key: str
    value: str
    why: str


def replication_factor(brokers: int) -> int:
    """The default replication factor: 3, or the number of brokers when there are fewer."""
    return min(3, brokers)


def min_insync_replicas(brokers: int) -> int:
    """The default min.insync.replicas: one less than the replication factor, at least 1."""
    return max(1, replication_factor(brokers) - 1)


def for_kind(cluster: Cluster, kind: Kind) -> tuple[Default, ...]:
    """The defaults of one kind of node, in the order of its file."""
    if kind is Kind.ZOOKEEPER:
        return ZOOKEEPER
    topics = _topics(len(cluster.brokers)) + (_share_groups(len(cluster.brokers)) if _has_share_groups(cluster) else ())
    if kind is Kind.CONTROLLER:
        return topics + _CONTROLLER
    return topics + BROKER + (_ZOOKEEPER_MODE if isinstance(cluster.metadata, Ensemble) else _KRAFT_BROKER)


def _has_share_groups(cluster: Cluster) -> bool:
    return cluster.release.numbers >= (4, 0)


ZOOKEEPER = (
    Default(
        "tickTime", "500", "a session lasts 2 ticks or longer, and ends up to one late; ZooKeeper's default is 3000"
    ),
    Default("maxSessionTimeout", "40000", "clients may ask for sessions up to 40 s; ZooKeeper's default is 20 ticks"),
    Default("initLimit", "40", "20 s for a follower to load the first snapshot; ZooKeeper has no default"),
    Default("syncLimit", "3", "a lost leader is noticed after 1.5 s; raise it where disks stall for longer"),
    Default("autopurge.snapRetainCount", "5", "snapshots to keep for recovery"),
    Default("autopurge.purgeInterval", "1", "purge every hour; ZooKeeper's default is never, and the disk fills up"),
    Default("maxClientCnxns", "100", "connections per client address; Kafka's sample file has 0, no limit"),
    Default(
        "4lw.commands.whitelist", "srvr,ruok,mntr,conf,stat,isro", "the commands that health checks use, no others"
    ),
    Default("admin.enableServer", "false", "unused, and its port 8080 often collides"),
    Default("standaloneEnabled", "false", "a server of an ensemble must not run standalone"),
    Default("reconfigEnabled", "false", "the inventory defines the members, not a client"),
)
"""ZooKeeper's own defaults are for a trial, not for an ensemble."""

BROKER = (
    Default("log.retention.hours", "168", "retention of 7 days unless the topic sets another"),
    Default("num.replica.fetchers", "2", "followers catch up faster after a restart; Kafka's default is 1"),
    Default("num.recovery.threads.per.data.dir", "4", "shortens the start after a crash; Kafka's default is 1 or 2"),
    Default("controlled.shutdown.enable", "true", "a broker moves its leaders to other brokers before it stops"),
    Default("auto.leader.rebalance.enable", "true", "leaders return to the preferred replica after a restart"),
    Default(
        "group.initial.rebalance.delay.ms",
        "3000",
        "waits for more members before the first rebalance; Kafka's sample file has 0",
    ),
)

_ZOOKEEPER_MODE = (
    Default(
        "zookeeper.session.timeout.ms",
        "4500",
        "how long writing pauses after a power cut; brokers come back by themselves from longer pauses of their JVM",
    ),
    Default("zookeeper.connection.timeout.ms", "18000", "how long a start waits for ZooKeeper"),
    Default("broker.id.generation.enable", "false", "ids come from the inventory"),
    Default(
        "controlled.shutdown.retry.backoff.ms",
        "250",
        "a broker that stops while the controller does asks the next controller so soon; 5000 is Kafka's",
    ),
    Default("controlled.shutdown.max.retries", "40", "10 s for a new controller, before a broker stops without one"),
)


_QUORUM_FETCH = Default(
    "controller.quorum.fetch.timeout.ms",
    "750",
    "a lost leader is noticed so soon; raise it where disks stall for longer",
)

_KRAFT_BROKER = (
    Default(
        "broker.heartbeat.interval.ms",
        "250",
        "with sessions of 5500 ms a JVM may stand still for 5 s; Kafka's default is 2000",
    ),
    _QUORUM_FETCH,
)

_CONTROLLER = (
    Default("broker.session.timeout.ms", "5500", "how long writing pauses after a power cut; Kafka's default is 9000"),
    _QUORUM_FETCH,
    Default(
        "controller.quorum.election.timeout.ms", "500", "an election is tried again so soon; Kafka's default is 1000"
    ),
)


def _topics(brokers: int) -> tuple[Default, ...]:
    """The defaults of topics; controllers need the same values as brokers."""
    replicas, in_sync = str(replication_factor(brokers)), str(min_insync_replicas(brokers))
    reason = _replica_reason(brokers)
    return (
        Default(
            "default.replication.factor", replicas, f"{reason} unless the topic sets another; Kafka's default is 1"
        ),
        Default("min.insync.replicas", in_sync, f"replicas that must acknowledge with acks=all; {_spare(brokers)}"),
        Default("unclean.leader.election.enable", "false", "true can lose acknowledged records"),
        Default("auto.create.topics.enable", "false", "true creates a topic for every misspelt name"),
        Default("num.partitions", "3", "partitions unless the topic sets another number; they can only be added"),
        Default("delete.topic.enable", "true", "topics can be deleted; kcluster asks for confirmation"),
        Default("offsets.topic.replication.factor", replicas, f"{reason} of consumer offsets; fixed at first use"),
        Default("transaction.state.log.replication.factor", replicas, f"{reason} of transaction state"),
        Default("transaction.state.log.min.isr", in_sync, f"in-sync replicas for transactions; {_spare(brokers)}"),
    )


def _share_groups(brokers: int) -> tuple[Default, ...]:
    return (
        Default(
            "share.coordinator.state.topic.replication.factor",
            str(replication_factor(brokers)),
            f"{_replica_reason(brokers)} of share group state",
        ),
        Default(
            "share.coordinator.state.topic.min.isr",
            str(min_insync_replicas(brokers)),
            f"in-sync replicas for share groups; {_spare(brokers)}",
        ),
    )


def _replica_reason(brokers: int) -> str:
    if brokers >= 3:
        return "3 replicas"
    return f"{counted(brokers, 'replica')} (the cluster has {counted(brokers, 'broker')})"


def _spare(brokers: int) -> str:
    return "1 broker may be down" if brokers > 1 else "the cluster has 1 broker"


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
"""Properties of brokers that controllers need too (4.1 and later take the cluster's
`min.insync.replicas` from a controller's file, whatever the brokers' files say)."""
