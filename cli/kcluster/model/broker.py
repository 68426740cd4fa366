"""A Kafka broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kcluster.model.listener import Listener
from kcluster.model.node import Kind, Node


@dataclass(frozen=True, kw_only=True)
class Broker(Node):
    """One broker with its listeners and data directories."""

    kind: ClassVar[Kind] = Kind.BROKER

    listeners: tuple[Listener, ...]
    inter_broker_listener: str = "internal"
    data_dirs: tuple[str, ...] = ("/var/lib/kafka",)
    rack: str = ""

    @property
    def internal(self) -> Listener:
        """The inter-broker listener."""
        return next(listener for listener in self.listeners if listener.name == self.inter_broker_listener)

    def listener_for(self, protocol: str) -> Listener:
        """The first listener with this security protocol, inter-broker first; else the inter-broker one."""
        matching = (each for each in (self.internal, *self.listeners) if each.protocol == protocol)
        return next(matching, self.internal)
