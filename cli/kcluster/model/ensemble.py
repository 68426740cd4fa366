"""A ZooKeeper ensemble: the metadata quorum of clusters without KRaft."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

from kcluster.model.node import Kind, Node


@dataclass(frozen=True, kw_only=True)
class Server(Node):
    """One ZooKeeper server."""

    kind: ClassVar[Kind] = Kind.ZOOKEEPER

    client_port: int = 2181
    peer_port: int = 2888
    election_port: int = 3888
    data_dir: str = "/var/lib/zookeeper"
    log_dir: str = ""
    """The directory of the transaction log; empty means the data directory."""

    @property
    def client_address(self) -> str:
        """The address for clients: "host:2181"."""
        return f"{self.host.address}:{self.client_port}"

    @property
    def line(self) -> str:
        """The value of `server.N`: "host:2888:3888"."""
        return f"{self.host.address}:{self.peer_port}:{self.election_port}"


@dataclass(frozen=True)
class Ensemble:
    """All ZooKeeper servers of a cluster."""

    servers: tuple[Server, ...]
    chroot: str = ""
    leaving: tuple[Server, ...] = ()
    """Servers that the others still know and the inventory does not: one of them may lead."""
    too_few: int = 0
    """In the stage that adds a member to one or two servers how many they are: none of them can be spared. A second
    server serves when both know each other; and of two, one is out when the third leads, which it does not know."""

    @property
    def nodes(self) -> tuple[Server, ...]:
        """The nodes of the metadata quorum."""
        return self.servers

    @property
    def tolerates(self) -> int:
        """How many servers may fail."""
        return (len(self.servers) - 1) // 2

    @property
    def connect(self) -> str:
        """`zookeeper.connect`: every server once, the chroot once at the end."""
        return ",".join(server.client_address for server in self.servers) + self.chroot

    def on_hosts(self, names: Collection[str]) -> Ensemble:
        """The nodes that are on these hosts."""
        return replace(self, servers=tuple(node for node in self.servers if node.host.name in names))
