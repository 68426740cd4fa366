"""A node as its process was started: its endpoints, out of the properties that the process has read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kcluster.model.broker import Broker
from kcluster.model.endpoints import EVERYWHERE
from kcluster.model.ensemble import Server
from kcluster.model.listener import Listener
from kcluster.model.node import Node
from kcluster.model.quorum import Controller


def as_started(node: Node, properties: Mapping[str, str]) -> Node:
    """The node with the endpoints that these properties give its process."""
    if isinstance(node, Server):
        # "host:2888:3888", "[::1]:2888:3888:participant;2181"
        election = properties.get(f"server.{node.id}", "").partition(";")[0].rpartition("]")[2].split(":")[2:3]
        return replace(
            node,
            client_port=int(properties.get("clientPort", node.client_port)),
            election_port=int(next(iter(election), node.election_port)),
        )
    if isinstance(node, Controller):
        bound = endpoints(properties.get("listeners", ""))
        return replace(node, port=next(iter(bound.values()))[1]) if bound else node
    if isinstance(node, Broker):
        listeners = _listeners(node, properties)
        return replace(node, listeners=listeners, inter_broker_listener=_inner(listeners, properties))
    return node


def _listeners(broker: Broker, properties: Mapping[str, str]) -> tuple[Listener, ...]:
    bound = endpoints(properties.get("listeners", ""))
    advertised = endpoints(properties.get("advertised.listeners", ""))
    protocols = _pairs(properties.get("listener.security.protocol.map", ""))
    listeners = []
    for label, (host, port) in bound.items():
        there, at = advertised.get(label, (broker.host.address if host in EVERYWHERE else host, port))
        listeners.append(
            Listener(
                name=label.lower(),
                host=host,
                port=port,
                protocol=protocols.get(label, label),  # without a map a listener has the name of its protocol
                advertised_host=there,
                advertised_port=at,
            )
        )
    return tuple(listeners) or broker.listeners


def _inner(listeners: tuple[Listener, ...], properties: Mapping[str, str]) -> str:
    """The name of the listener between brokers: by its name, by its protocol, else Kafka's default."""
    if label := properties.get("inter.broker.listener.name", ""):
        return label.lower()
    protocol = properties.get("security.inter.broker.protocol", "PLAINTEXT")
    return next((each.name for each in listeners if each.protocol == protocol), listeners[0].name)


def endpoints(value: str) -> dict[str, tuple[str, int]]:
    """The address and port of each label: "INTERNAL://[::1]:9092,EXTERNAL://:9093"."""
    found = {}
    for entry in filter(None, (part.strip() for part in value.split(","))):
        label, _, address = entry.partition("://")
        host, _, port = address.rpartition(":")
        found[label] = host.strip("[]"), int(port)
    return found


def _pairs(value: str) -> dict[str, str]:
    """The protocol of each label: "INTERNAL:PLAINTEXT,EXTERNAL:SSL"."""
    return {label.strip(): protocol.strip() for label, _, protocol in (e.partition(":") for e in value.split(","))}
