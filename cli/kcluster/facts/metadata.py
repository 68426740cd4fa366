"""What a broker knows of its cluster, asked directly or, where this machine does not reach it, from its host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.clients import wire
from kcluster.clients.kafka import Kafka
from kcluster.model.client import PLAIN, protocol_of, suited

if TYPE_CHECKING:
    from kcluster.clients.kafka.topics import TopicState
    from kcluster.facts.reach import Reach
    from kcluster.model.broker import Broker
    from kcluster.model.listener import Listener


@dataclass(frozen=True)
class Metadata:
    """The cluster as one broker knows it."""

    brokers: Mapping[int, str]
    """The address of each."""
    controller: int
    topics: Mapping[str, TopicState]


@dataclass(frozen=True)
class BrokerEndpoint:
    """A listener of a broker, and how it is spoken to there."""

    broker: int
    listener: Listener
    config: Mapping[str, str]
    """librdkafka's properties."""
    reach: Reach

    @classmethod
    def of(cls, broker: Broker, config: Mapping[str, str], reach: Reach) -> BrokerEndpoint:
        """The listener that speaks the client's protocol; from the broker's host one that needs no login, if any."""
        listener = broker.listener_for(protocol_of(config))
        plain = broker.listener_for(PLAIN)
        if (
            listener.protocol.startswith("SASL")
            and plain.protocol == PLAIN
            and (reach.through_host(listener.advertised_host, listener.advertised_port))
        ):
            return cls(broker.id, plain, {}, reach)
        return cls(broker.id, listener, suited(config, listener.protocol), reach)

    @property
    def from_host(self) -> bool:
        """Whether the broker is asked from its own host."""
        return self.reach.through_host(*self._address)

    def metadata(self) -> Metadata:
        """The brokers, the controller and the topics that it knows."""
        from kcluster.clients.kafka import topics

        if self.from_host:
            told = wire.metadata(*self._address, self.config, dial=self.reach.connect)
            return Metadata(told.brokers, told.controller, topics.of_wire(told.topics))
        # A client of its own knows no other address, so it is this broker that gives the first answer.
        seen = Kafka(self.listener.address, self.config).metadata()
        brokers = {broker.id: f"{broker.host}:{broker.port}" for broker in seen.brokers.values()}
        return Metadata(brokers, seen.controller_id, topics.of_metadata(seen))

    def min_isr(self, states: Sequence[TopicState]) -> dict[str, int | None]:
        """min.insync.replicas of each of these topics; None where it may not be read."""
        from kcluster.clients.kafka.topics import with_config

        if not states:
            return {}
        if self.from_host:
            return wire.min_isr(*self._address, [state.name for state in states], self.config, dial=self.reach.connect)
        told = with_config(Kafka(self.listener.address, self.config), states, broker=self.broker)
        return {state.name: state.min_isr for state in told}

    @property
    def _address(self) -> tuple[str, int]:
        return self.listener.advertised_host, self.listener.advertised_port
