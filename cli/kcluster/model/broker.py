"""A broker: what clients talk to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kcluster.model.listener import Listener
from kcluster.model.node import Kind, Node


@dataclass(frozen=True, kw_only=True)
class Broker(Node):
    """One Kafka broker."""

    kind: ClassVar[Kind] = Kind.BROKER

    listeners: tuple[Listener, ...]
    inter_broker_listener: str = "internal"
    data_dirs: tuple[str, ...] = ("/var/lib/kafka",)
    rack: str = ""

    @property
    def internal(self) -> Listener:
        """The listener the brokers use among themselves."""
        return next(listener for listener in self.listeners if listener.name == self.inter_broker_listener)

    def listener_for(self, protocol: str) -> Listener:
        """Where a client comes in: the first listener that speaks its protocol, the internal one before all others."""
        fitting = (each for each in (self.internal, *self.listeners) if each.protocol == protocol)
        return next(fitting, self.internal)
