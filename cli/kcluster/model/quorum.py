"""A KRaft quorum: controllers with the cluster's metadata."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

from kcluster.model.node import Kind, Node


@dataclass(frozen=True, kw_only=True)
class Controller(Node):
    """One KRaft controller."""

    kind: ClassVar[Kind] = Kind.CONTROLLER

    port: int = 9093
    data_dir: str = "/var/lib/kafka-controller"

    @property
    def voter(self) -> str:
        """The entry in `controller.quorum.voters`."""
        return f"{self.id}@{self.host.address}:{self.port}"


@dataclass(frozen=True)
class Quorum:
    """All controllers of a cluster, and the id with which its storage is formatted."""

    controllers: tuple[Controller, ...]
    cluster_id: str

    @property
    def nodes(self) -> tuple[Controller, ...]:
        """The nodes of the metadata quorum."""
        return self.controllers

    @property
    def tolerates(self) -> int:
        """How many controllers may fail."""
        return (len(self.controllers) - 1) // 2

    @property
    def voters(self) -> str:
        """`controller.quorum.voters`, the same on every node."""
        return ",".join(controller.voter for controller in self.controllers)

    def on_hosts(self, names: Collection[str]) -> Quorum:
        """The nodes that are on these hosts."""
        return replace(self, controllers=tuple(node for node in self.controllers if node.host.name in names))


def new_cluster_id() -> str:
    """A random cluster id in Kafka's form: 22 characters; never with `-` in front, which tools take for an option."""
    from base64 import urlsafe_b64encode
    from uuid import uuid4

    while (cluster_id := urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return cluster_id
