"""A cluster: a release, the keepers of the metadata, the brokers and the topics."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from kcluster.model.broker import Broker
from kcluster.model.client import Client
from kcluster.model.ensemble import Ensemble
from kcluster.model.host import Host
from kcluster.model.node import Node
from kcluster.model.quorum import Quorum
from kcluster.model.release import Release
from kcluster.model.spark_cluster import SparkCluster
from kcluster.model.topic import Topic


@dataclass(frozen=True)
class Cluster:
    """Everything an inventory says about one cluster."""

    name: str
    release: Release
    metadata: Ensemble | Quorum
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...] = ()
    installs_java: bool = False
    """Whether Java is installed on hosts where it is missing or too old."""
    engine: SparkCluster | None = None
    """Spark, where the inventory has hosts for it."""
    client: Client = field(default_factory=Client)
    """What clients say to the brokers."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every process of Kafka, the keepers of the metadata first."""
        return (*self.metadata.nodes, *self.brokers)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is installed and looked at by itself: Kafka, and Spark where there is some."""
        return (self, self.engine) if self.engine else (self,)

    @property
    def every_node(self) -> tuple[Node, ...]:
        """Every process, those of Spark last."""
        return tuple(node for part in self.parts for node in part.nodes)

    @property
    def every_host(self) -> tuple[Host, ...]:
        """Every host once, those with Spark alone last."""
        return tuple(dict.fromkeys(node.host for node in self.every_node))

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Every host of Kafka once, in the order of the nodes."""
        return tuple(dict.fromkeys(node.host for node in self.nodes))

    @property
    def bootstrap(self) -> str:
        """The bootstrap line for the cluster's clients."""
        return self.bootstrap_for(self.client.protocol)

    def bootstrap_for(self, protocol: str) -> str:
        """The bootstrap line for a client that speaks this protocol."""
        return ",".join(broker.listener_for(protocol).address for broker in self.brokers)

    @property
    def local(self) -> bool:
        """Whether every host is placed on this machine by `kcluster up`."""
        return all(host.local for host in self.hosts)

    def part_of(self, node: Node) -> Part:
        """What a node is a part of."""
        return next(part for part in self.parts if node in part.nodes)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that `find` knows: the nodes', then the hosts'."""
        nodes, hosts = self.every_node, self.every_host
        return tuple(dict.fromkeys([*(node.name for node in nodes), *(host.name for host in hosts)]))

    def on(self, host: Host) -> tuple[Node, ...]:
        """The nodes on one host."""
        return tuple(node for node in self.nodes if node.host == host)

    def on_hosts(self, names: Collection[str]) -> Cluster:
        """The part of the cluster that is on these hosts."""
        return replace(
            self,
            metadata=self.metadata.on_hosts(names),
            brokers=tuple(broker for broker in self.brokers if broker.host.name in names),
            engine=self.engine and self.engine.on_hosts(names),
        )

    def find(self, name: str) -> tuple[Node, ...]:
        """The nodes meant by a node's or a host's name."""
        return tuple(node for node in self.every_node if name in (node.name, node.host.name))


Part = Cluster | SparkCluster
"""Kafka or Spark: what has a release of its own, an account of its own, and folders of its own."""
