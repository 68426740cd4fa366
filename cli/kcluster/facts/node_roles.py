"""What each node is in its cluster: all of them asked over the wire at the same time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from kcluster.clients import ports, wire, zookeeper
from kcluster.clients.wire import NodeIdentity, QuorumState
from kcluster.errors import RefusedError, UnreachableError
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.node import Node
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon

_AT_ONCE = 64

Answer = str | NodeIdentity | QuorumState
"""What a node said: a ZooKeeper server its mode, a broker its cluster, the leader of a quorum its state; an empty
text where nothing but an open door can be seen."""


def roles(cluster: Cluster, nodes: Collection[Node]) -> dict[str, str]:
    """What each of these nodes is in the cluster, empty for nothing special; who does not serve is missing."""
    if not nodes:
        return {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = dict(zip((node.name for node in nodes), pool.map(_ask, nodes), strict=True))
    return decided(cluster, {name: answer for name, answer in told.items() if answer is not None})


def decided(cluster: Cluster, told: Mapping[str, Answer]) -> dict[str, str]:
    """The roles that follow from what the nodes said."""
    found: dict[str, str] = {}
    for node in (node for node in cluster.nodes if node.name in told):
        if isinstance(node, Server):
            found[node.name] = str(told[node.name])
        elif isinstance(node, Controller):
            found[node.name] = _in_quorum(node, told)
        elif _registered(node, told):
            found[node.name] = _of_broker(cluster, node, told)
    return found


def door(node: Node) -> tuple[str, int]:
    """Where a node answers those who use it."""
    if isinstance(node, Server):
        return node.host.address, node.client_port
    if isinstance(node, Controller):
        return node.host.address, node.port
    if isinstance(node, SparkDaemon):
        return node.host.address, node.port
    assert isinstance(node, Broker)
    inner = node.internal
    return (node.host.address if inner.host in ("", "0.0.0.0", "::") else inner.host), inner.port


def _ask(node: Node) -> Answer | None:
    host, port = door(node)
    try:
        if isinstance(node, Server):
            return zookeeper.mode(host, port) or None
        if isinstance(node, Controller):
            return wire.quorum(host, port)
        assert isinstance(node, Broker)
        if node.internal.protocol == "PLAINTEXT":
            return wire.identity(host, port)
        return "" if ports.answers(host, port, within=2.0) else None  # it asks for credentials we do not have
    except RefusedError:
        return ""  # a controller that does not lead
    except UnreachableError:
        return None


def _identities(told: Mapping[str, Answer]) -> list[NodeIdentity]:
    return [answer for answer in told.values() if isinstance(answer, NodeIdentity)]


def _registered(broker: Node, told: Mapping[str, Answer]) -> bool:
    """Whether a broker knows it as a member; where none can be asked, its open door must do."""
    known = _identities(told)
    return not known or any(broker.id in identity.brokers for identity in known)


def _of_broker(cluster: Cluster, broker: Node, told: Mapping[str, Answer]) -> str:
    """With ZooKeeper one broker is the controller; with KRaft they name any, whatever it means."""
    own = told[broker.name]
    seen = [own] if isinstance(own, NodeIdentity) else _identities(told)
    controls = isinstance(cluster.metadata, Ensemble) and any(one.controller == broker.id for one in seen)
    return "controller" if controls else ""


def _in_quorum(controller: Node, told: Mapping[str, Answer]) -> str:
    """Only the leader tells the state of the quorum."""
    states = [answer for answer in told.values() if isinstance(answer, QuorumState)]
    if not states:
        return ""
    leader = max(states, key=lambda state: state.epoch).leader
    return "leader" if controller.id == leader else "follower"
