"""A cluster: a release, the keepers of the metadata, the brokers and the topics."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from kcluster.model.broker import Broker
from kcluster.model.ensemble import Ensemble
from kcluster.model.host import Host
from kcluster.model.node import Node
from kcluster.model.quorum import Quorum
from kcluster.model.release import Release
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

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every process, the keepers of the metadata first."""
        return (*self.metadata.nodes, *self.brokers)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Every host once, in the order of the nodes."""
        return tuple(dict.fromkeys(node.host for node in self.nodes))

    @property
    def bootstrap(self) -> str:
        """The bootstrap line of the listener the brokers use among themselves."""
        return ",".join(broker.internal.address for broker in self.brokers)

    @property
    def local(self) -> bool:
        """Whether every host is placed on this machine by `kcluster up`."""
        return all(host.local for host in self.hosts)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that `find` knows: the nodes', then the hosts'."""
        return tuple(dict.fromkeys([*(node.name for node in self.nodes), *(host.name for host in self.hosts)]))

    def on(self, host: Host) -> tuple[Node, ...]:
        """The nodes on one host."""
        return tuple(node for node in self.nodes if node.host == host)

    def on_hosts(self, names: Collection[str]) -> Cluster:
        """The part of the cluster that is on these hosts."""
        return replace(
            self,
            metadata=self.metadata.on_hosts(names),
            brokers=tuple(broker for broker in self.brokers if broker.host.name in names),
        )

    def find(self, name: str) -> tuple[Node, ...]:
        """The nodes meant by a node's or a host's name."""
        return tuple(node for node in self.nodes if name in (node.name, node.host.name))
