"""Where a node serves: the port on its host, and the address at which other nodes reach it."""

from __future__ import annotations

from kcluster.model.broker import Broker
from kcluster.model.ensemble import Server
from kcluster.model.node import Node
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon

EVERYWHERE = ("", "0.0.0.0", "::")
"""What a listener is bound to that takes connections at each address of its host."""


def port_of(node: Node) -> int:
    """The port at which a node that serves listens on its host."""
    if isinstance(node, Server):
        return node.client_port
    if isinstance(node, Broker):
        return node.internal.port
    assert isinstance(node, Controller | SparkDaemon)
    return node.port


def address_of(node: Node) -> tuple[str, int]:
    """The address and port at which a node serves the others of its cluster."""
    bound = node.internal.host if isinstance(node, Broker) else ""
    return (node.host.address if bound in EVERYWHERE else bound), port_of(node)
