"""The role of each node in its cluster; all are asked over the wire at the same time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kcluster.clients import ports, wire, zookeeper
from kcluster.clients.dialing import Dial, direct
from kcluster.clients.wire import NodeIdentity, QuorumState
from kcluster.errors import RefusedError, UnreachableError
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.endpoints import address_of
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.node import Node
from kcluster.model.quorum import Controller

_AT_ONCE = 64

Answer = str | NodeIdentity | QuorumState
"""The answer of a node: a ZooKeeper server's mode, a broker's cluster, the quorum state of its leader; empty where
only an open port is known."""


def roles(cluster: Cluster, nodes: Collection[Node], dial: Dial = direct) -> dict[str, str]:
    """The role of each of these nodes that answers, by name; empty for a node without a special role."""
    if not nodes:
        return {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = dict(zip((node.name for node in nodes), pool.map(partial(_ask, dial=dial), nodes), strict=True))
    return roles_of(cluster, {name: answer for name, answer in answers.items() if answer is not None})


def roles_of(cluster: Cluster, answers: Mapping[str, Answer]) -> dict[str, str]:
    """The roles that follow from the answers of the nodes."""
    roles: dict[str, str] = {}
    for node in (node for node in cluster.nodes if node.name in answers):
        if isinstance(node, Server):
            roles[node.name] = str(answers[node.name])
        elif isinstance(node, Controller):
            roles[node.name] = _in_quorum(node, answers)
        elif _registered(node, answers):
            roles[node.name] = _of_broker(cluster, node, answers)
    return roles


def _ask(node: Node, dial: Dial) -> Answer | None:
    host, port = address_of(node)
    try:
        if isinstance(node, Server):
            return zookeeper.role(host, port, dial=dial) or None
        if isinstance(node, Controller):
            return wire.quorum(host, port, dial=dial)
        assert isinstance(node, Broker)
        if node.internal.protocol == "PLAINTEXT":
            return wire.identity(host, port, dial=dial)
        return "" if ports.answers(host, port, within=2.0, dial=dial) else None  # it needs credentials
    except RefusedError:
        return ""  # a controller that does not lead
    except UnreachableError:
        return None


def _identities(answers: Mapping[str, Answer]) -> list[NodeIdentity]:
    return [answer for answer in answers.values() if isinstance(answer, NodeIdentity)]


def _registered(broker: Node, answers: Mapping[str, Answer]) -> bool:
    """Whether a broker is registered in its cluster; where none can be asked, an open port counts."""
    known = _identities(answers)
    return not known or any(broker.id in identity.brokers for identity in known)


def _of_broker(cluster: Cluster, broker: Node, answers: Mapping[str, Answer]) -> str:
    """With ZooKeeper one broker is the controller; with KRaft brokers name any, which means nothing."""
    own = answers[broker.name]
    identities = [own] if isinstance(own, NodeIdentity) else _identities(answers)
    controls = isinstance(cluster.metadata, Ensemble) and any(one.controller == broker.id for one in identities)
    return "controller" if controls else ""


def _in_quorum(controller: Node, answers: Mapping[str, Answer]) -> str:
    """Only the leader answers with the state of the quorum."""
    states = [answer for answer in answers.values() if isinstance(answer, QuorumState)]
    if not states:
        return ""
    leader = max(states, key=lambda state: state.epoch).leader
    return "leader" if controller.id == leader else "follower"
