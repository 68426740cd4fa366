"""A cluster: its release, metadata quorum, brokers, topics, and Spark."""

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
    """The cluster that an inventory describes."""

    name: str
    release: Release
    metadata: Ensemble | Quorum
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...] = ()
    installs_java: bool = False
    """Whether Java is installed on hosts where it is missing or too old."""
    engine: SparkCluster | None = None
    """The Spark cluster; None where the inventory has no hosts for it."""
    client: Client = field(default_factory=Client)
    """The client properties of the inventory."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every node of Kafka: the metadata quorum first, then the brokers."""
        return (*self.metadata.nodes, *self.brokers)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Kafka, and Spark where there is one: each has its own release, account and directories."""
        return (self, self.engine) if self.engine else (self,)

    @property
    def every_node(self) -> tuple[Node, ...]:
        """Every node, those of Spark last."""
        return tuple(node for part in self.parts for node in part.nodes)

    @property
    def every_host(self) -> tuple[Host, ...]:
        """Every host once, those with Spark only last."""
        return tuple(dict.fromkeys(node.host for node in self.every_node))

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Every host of Kafka once, in the order of the nodes."""
        return tuple(dict.fromkeys(node.host for node in self.nodes))

    @property
    def bootstrap(self) -> str:
        """The bootstrap servers for clients with the inventory's security protocol."""
        return self.bootstrap_for(self.client.protocol)

    def bootstrap_for(self, protocol: str) -> str:
        """The bootstrap servers for clients with this security protocol."""
        return ",".join(broker.listener_for(protocol).address for broker in self.brokers)

    @property
    def local(self) -> bool:
        """Whether every host is local, for `kcluster up`."""
        return all(host.local for host in self.hosts)

    def part_of(self, node: Node) -> Part:
        """The part, Kafka or Spark, that has this node."""
        return next(part for part in self.parts if node in part.nodes)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that `find` accepts: of nodes, then of hosts."""
        nodes, hosts = self.every_node, self.every_host
        return tuple(dict.fromkeys([*(node.name for node in nodes), *(host.name for host in hosts)]))

    def on(self, host: Host) -> tuple[Node, ...]:
        """The Kafka nodes on one host."""
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
        """The nodes with this node or host name."""
        return tuple(node for node in self.every_node if name in (node.name, node.host.name))


Part = Cluster | SparkCluster
"""Kafka or Spark: each with its own release, account and directories."""
