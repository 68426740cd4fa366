"""Clusters before and after changes that take stages, and their titles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer
from kcluster.model.quorum import Quorum
from kcluster.model.release import Release
from tests.unit.plan.observed_hosts import NEW, OLD

HOSTS = tuple(Host(f"h{number}", f"10.0.0.{number}") for number in range(1, 6))
JAAS = {"sasl.enabled.mechanisms": "PLAIN", "listener.name.internal.plain.sasl.jaas.config": "plain;"}
LOGIN = {**JAAS, "sasl.mechanism.inter.broker.protocol": "PLAIN"}
SCRAM = {"listener.name.internal.scram-sha-512.sasl.jaas.config": "scram;"}


def listening(cluster: Cluster, inner: str, *listeners: tuple[str, int, str], **config: str) -> Cluster:
    """The cluster with these listeners (name, port, protocol), the one between brokers, and properties."""

    def of(broker: Broker) -> Broker:
        each = tuple(
            Listener(name=n, port=p, protocol=s, advertised_host=broker.host.address, advertised_port=p)
            for n, p, s in listeners
        )
        layer = Layer("cluster", {key.replace("__", "."): value for key, value in config.items()})
        return replace(broker, listeners=each, inter_broker_listener=inner, layers=(layer,))

    return replace(cluster, brokers=tuple(map(of, cluster.brokers)))


def with_config(cluster: Cluster, config: Mapping[str, str]) -> Cluster:
    layer = Layer("group kafka_broker", config)
    return replace(cluster, brokers=tuple(replace(each, layers=(layer,)) for each in cluster.brokers))


def servers(*numbers: int, client: int = 2181, peer: int = 2888, moved: tuple[int, ...] = ()) -> Cluster:
    """The cluster with these ZooKeeper servers; those that moved have another port among peers."""
    ensemble = Ensemble(
        tuple(Server(host=HOSTS[n - 1], id=n, client_port=client, peer_port=peer + 100 * (n in moved)) for n in numbers)
    )
    return replace(OLD, metadata=ensemble)


def controllers(port: int) -> Cluster:
    assert isinstance(NEW.metadata, Quorum)
    moved = tuple(replace(each, port=port) for each in NEW.metadata.controllers)
    return replace(NEW, metadata=replace(NEW.metadata, controllers=moved))


PLAIN = listening(OLD, "internal", ("internal", 9092, "PLAINTEXT"))
SASL = with_config(
    listening(OLD, "internal", ("internal", 9092, "SASL_PLAINTEXT")),
    LOGIN,
)
SASL_SCRAM = with_config(
    SASL, {**SCRAM, "sasl.enabled.mechanisms": "SCRAM-SHA-512", "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512"}
)
REPLICATION = listening(OLD, "replication", ("internal", 9092, "PLAINTEXT"), ("replication", 9094, "PLAINTEXT"))
RENAMED = listening(OLD, "replication", ("replication", 9092, "PLAINTEXT"))
MOVED = listening(OLD, "internal", ("internal", 9192, "PLAINTEXT"))
SASL_MOVED = with_config(
    listening(OLD, "internal", ("internal", 9192, "SASL_PLAINTEXT")),
    LOGIN,
)

WAYS = {
    "nothing": (PLAIN, PLAIN, [""]),
    "port": (PLAIN, MOVED, [""]),
    "choice": (
        PLAIN,
        REPLICATION,
        ["open REPLICATION (PLAINTEXT) at port 9094", "brokers talk over REPLICATION (PLAINTEXT)", ""],
    ),
    "another name at the same port": (
        PLAIN,
        RENAMED,
        [
            "open REPLICATION (PLAINTEXT) at port 9093",
            "brokers talk over REPLICATION (PLAINTEXT)",
            "close INTERNAL",
        ],
    ),
    "protocol": (
        PLAIN,
        SASL,
        [
            "open INTERNAL_NEXT (SASL_PLAINTEXT, PLAIN) at port 9093",
            "brokers talk over INTERNAL_NEXT (SASL_PLAINTEXT, PLAIN)",
            "open INTERNAL (SASL_PLAINTEXT, PLAIN) at port 9092",
            "brokers talk over INTERNAL (SASL_PLAINTEXT, PLAIN)",
            "close INTERNAL_NEXT",
        ],
    ),
    "mechanism": (
        SASL,
        SASL_SCRAM,
        [
            "open INTERNAL (SASL_PLAINTEXT, SCRAM-SHA-512) at port 9092",
            "brokers talk over INTERNAL (SASL_PLAINTEXT, SCRAM-SHA-512)",
            "",
        ],
    ),
    "release": (
        PLAIN,
        replace(PLAIN, release=Release("3.9.1")),
        ["nodes start kafka_2.13-3.9.1 in place of kafka_2.13-3.9.2"],
    ),
    "grow": (
        servers(1),
        servers(1, 2, 3),
        [
            "add zookeeper-2 to the ensemble",
            "add zookeeper-3 to the ensemble",
            "brokers connect to 10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181",
        ],
    ),
    "shrink": (
        servers(1, 2, 3, 4, 5),
        servers(1, 2, 3),
        [
            "brokers connect to 10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181",
            "remove zookeeper-5 from the ensemble",
            "remove zookeeper-4 from the ensemble",
        ],
    ),
    "replace": (
        servers(1, 2, 3),
        servers(1, 2, 4),
        [
            "add zookeeper-4 to the ensemble",
            "brokers connect to 10.0.0.1:2181,10.0.0.2:2181,10.0.0.4:2181",
            "remove zookeeper-3 from the ensemble",
        ],
    ),
    "client port": (
        servers(1, 2, 3),
        servers(1, 2, 3, client=2191),
        [
            "brokers know ZooKeeper at port 2191 too",
            "ZooKeeper serves at port 2191",
            "brokers connect to 10.0.0.1:2191,10.0.0.2:2191,10.0.0.3:2191",
        ],
    ),
    "port among peers": (
        servers(1, 2, 3),
        servers(1, 2, 3, moved=(2,)),
        [
            "zookeeper-2 listens at 10.0.0.2:2988:3888",
            "all servers know zookeeper-2 at 10.0.0.2:2988:3888",
            "",
        ],
    ),
    "controllers": (
        controllers(9093),
        controllers(9193),
        [
            "controllers listen at port 9193 too",
            "all nodes ask controllers at port 9193",
            "close port 9093 of the controllers",
        ],
    ),
    "two kinds at once": (
        servers(1, 2, 3),
        listening(
            servers(1, 2, 3, client=2191),
            "replication",
            ("internal", 9092, "PLAINTEXT"),
            ("replication", 9094, "PLAINTEXT"),
        ),
        [
            "brokers know ZooKeeper at port 2191 too; open REPLICATION (PLAINTEXT) at port 9094",
            "ZooKeeper serves at port 2191; brokers talk over REPLICATION (PLAINTEXT)",
            "brokers connect to 10.0.0.1:2191,10.0.0.2:2191,10.0.0.3:2191",
        ],
    ),
}
BOTH_WAYS = (
    [(before, wanted) for before, wanted, _ in WAYS.values()]
    + [(wanted, before) for before, wanted, _ in WAYS.values()]
    + [(PLAIN, SASL_MOVED), (SASL_MOVED, PLAIN), (RENAMED, SASL), (SASL_SCRAM, REPLICATION)]
)
