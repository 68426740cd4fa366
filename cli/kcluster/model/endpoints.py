"""Where a node serves: the port on its host, and the address at which other nodes reach it."""

from __future__ import annotations

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
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


def own_ports(node: Node) -> tuple[int, ...]:
    """The ports at which a node serves others."""
    if isinstance(node, Server):
        return (node.client_port, node.peer_port, node.election_port)
    if isinstance(node, Controller):
        return (node.port,)
    if isinstance(node, SparkDaemon):
        return (node.port, node.web_port)
    assert isinstance(node, Broker)
    return tuple(listener.port for listener in node.listeners)


def ports(node: Node) -> tuple[int, ...]:
    """Every port on which a node listens, that of JMX included."""
    jmx = node.environment.get("JMX_PORT", "")
    return (*own_ports(node), *((int(jmx),) if jmx.isdigit() else ()))


def last_port(node: Node, cluster: Cluster) -> int:
    """The port that the process of a node opens last: it has started once it listens there.

    A broker recovers its logs before it listens. A ZooKeeper server of an ensemble opens the port for clients, loads
    its data, and then opens the port for elections.
    """
    if isinstance(node, Server) and len(cluster.metadata.nodes) > 1:
        return node.election_port
    return port_of(node)


def address_of(node: Node) -> tuple[str, int]:
    """The address and port at which a node serves the others of its cluster."""
    bound = node.internal.host if isinstance(node, Broker) else ""
    return (node.host.address if bound in EVERYWHERE else bound), port_of(node)


def addresses(node: Node) -> dict[str, str]:
    """Where a node of Kafka takes connections: of a broker by the label of the listener, with its protocol."""
    if isinstance(node, Broker):
        return {listener.label: f"{listener.address} {listener.protocol}" for listener in node.listeners}
    return {"": "{}:{}".format(*address_of(node))} if isinstance(node, Server | Controller) else {}
