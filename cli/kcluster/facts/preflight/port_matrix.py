"""The port matrix as the inventory wants it: who must reach which port of which host, this machine among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kcluster.config.file_paths import UNITS
from kcluster.model.broker import Broker
from kcluster.model.endpoints import own_ports
from kcluster.model.ensemble import Server
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon, SparkMaster

if TYPE_CHECKING:
    from kcluster.facts.preflight.host_facts import HostFacts
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node

HERE = "this machine"
"""The caller that is no host of the cluster: gates, health checks and the smoke test connect from here."""

EVERYWHERE = ("", "0.0.0.0", "::", "*")
"""What a listener's `host` says when it binds every address."""


@dataclass(frozen=True)
class PortRequirement:
    """One port of one node, and who must reach it."""

    host: str
    """The inventory name of the host it is on."""
    address: str
    """The name or address under which others know it."""
    port: int
    """The port under which others know it."""
    opens: int
    """The port the node listens on; another one only behind a translation of addresses."""
    bind: str
    unit: str
    """The unit that opens it; a check opens it only while that one rests."""
    callers: tuple[str, ...]
    vital: tuple[str, ...]
    """The callers without whose way in the cluster does not work."""
    optional: bool = False
    """Whether a node that runs well may leave it closed: only ZooKeeper's leader opens the peer port."""

    @property
    def label(self) -> str:
        """As people know it: "h1:9092"."""
        return f"{self.address if self.port != self.opens else self.host}:{self.port}"


def port_requirements(cluster: Cluster) -> tuple[PortRequirement, ...]:
    """Every endpoint that another host, or this machine, must reach."""
    return tuple(endpoint for node in cluster.every_node for endpoint in _of(cluster, node) if endpoint.callers)


def own_names(cluster: Cluster, host: str) -> tuple[str, ...]:
    """The names and addresses under which the others know a host."""
    found = (
        endpoint.address for node in cluster.every_node for endpoint in _of(cluster, node) if endpoint.host == host
    )
    return tuple(dict.fromkeys(found))


def running(cluster: Cluster, told: Mapping[str, HostFacts]) -> set[str]:
    """The nodes whose own unit holds a port of theirs."""
    return {
        node.name
        for node in cluster.every_node
        if (seen := told.get(node.host.name))
        and any(port in seen.ports and ours(seen.ports[port].unit, node) for port in own_ports(node))
    }


def ours(unit: str, node: Node) -> bool:
    """Whether a unit is the one of this node."""
    return unit == service(node)


def service(node: Node) -> str:
    """The full name of a node's unit."""
    return f"{UNITS[node.kind]}.service"


def questions(cluster: Cluster, told: Mapping[str, HostFacts], *, here: bool = True) -> dict[str, dict[str, Any]]:
    """What each host that can be asked must open and where it must knock, as JSON for the script.

    `here` says whether this machine will knock too: an endpoint waits for all who come. One that nobody opens for this,
    because its node runs and may open it at any moment, stays as it is: one knock tells.
    """
    callers = (*told, HERE) if here else tuple(told)
    alive = running(cluster, told)
    wanted = [endpoint for endpoint in port_requirements(cluster) if endpoint.host in told]
    silent = [node for node in cluster.every_node if node.name not in alive]
    closed = {(node.host.name, port) for node in silent for port in own_ports(node)}
    closed |= {(endpoint.host, endpoint.opens) for endpoint in wanted if not endpoint.optional}
    opened = {
        host: list(_openings(host, wanted, closed - {(host, port) for port in seen.ports}, callers))
        for host, seen in told.items()
    }
    soon = {(host, opening["port"]) for host, openings in opened.items() for opening in openings}
    return {
        caller: {
            "open": opened.get(caller, []),
            "knock": _knocks(endpoint for endpoint in wanted if caller in endpoint.callers),
            "once": _knocks(
                endpoint
                for endpoint in wanted
                if caller in endpoint.callers and (endpoint.host, endpoint.opens) not in soon
            ),
            "own_names": own_names(cluster, caller),
        }
        for caller in callers
    }


def _knocks(wanted: Iterable[PortRequirement]) -> list[tuple[str, int]]:
    return list(dict.fromkeys((endpoint.address, endpoint.port) for endpoint in wanted))


def _openings(
    host: str, wanted: Iterable[PortRequirement], closed: set[tuple[str, int]], callers: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The endpoints that nobody has open yet, each with the number of those who will come."""
    coming: dict[tuple[int, str, str], set[tuple[str, str, int]]] = {}
    for endpoint in wanted:
        if endpoint.host == host and (host, endpoint.opens) in closed:
            come = {(caller, endpoint.address, endpoint.port) for caller in endpoint.callers if caller in callers}
            coming.setdefault((endpoint.opens, endpoint.bind, endpoint.unit), set()).update(come)
    for (port, bind, unit), come in coming.items():
        yield {"port": port, "host": "" if bind in EVERYWHERE else bind, "unit": unit, "expected": len(come)}


def _of(cluster: Cluster, node: Node) -> Iterator[PortRequirement]:
    """The endpoints of one node; a caller on the same host needs no way."""
    if isinstance(node, Broker):
        yield from _of_broker(cluster, node)
        return
    brokers, members = _hosts(cluster.brokers, node), _hosts(cluster.metadata.nodes, node)
    masters = _hosts(cluster.engine.masters if cluster.engine else (), node)
    workers = _hosts(cluster.engine.workers if cluster.engine else (), node)
    if isinstance(node, Server):
        yield _plain(node, node.client_port, _once(brokers, masters, [HERE]))
        yield _plain(node, node.peer_port, members, optional=True)
        yield _plain(node, node.election_port, members)
    elif isinstance(node, Controller):
        yield _plain(node, node.port, _once(members, brokers, [HERE]))
    elif isinstance(node, SparkDaemon):
        # Workers call every master, and a master that takes over calls every worker; jobs may begin beside a master.
        # A master's page tells whom it leads; jobs may be submitted from here, and from anywhere else.
        if isinstance(node, SparkMaster):
            yield _plain(node, node.port, workers, others=_once(masters, [HERE]))
            yield _plain(node, node.web_port, (HERE,))
        else:
            yield _plain(node, node.port, masters)


def _of_broker(cluster: Cluster, node: Broker) -> Iterator[PortRequirement]:
    """Executors read from brokers; which of several listeners they use, only their jobs know."""
    others, brokers = _hosts(cluster.nodes, node), _hosts(cluster.brokers, node)
    workers = _hosts(cluster.engine.workers if cluster.engine else (), node)
    for listener in node.listeners:
        ours = [HERE] if listener == node.listener_for(cluster.client.protocol) else ()
        inside = brokers if listener == node.internal else ()
        vital = _once(inside, workers if len(node.listeners) == 1 else (), ours)
        address, port = listener.advertised_host, listener.advertised_port
        callers = _once(others, workers, ours)
        yield PortRequirement(
            node.host.name, address, port, listener.port, listener.host, service(node), callers, vital
        )


def _hosts(nodes: Iterable[Node], besides: Node) -> tuple[str, ...]:
    """The hosts of nodes, without the one that a node is on."""
    return _once(node.host.name for node in nodes if node.host != besides.host)


def _once(*names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


def _plain(
    node: Node, port: int, vital: tuple[str, ...], *, others: tuple[str, ...] = (), optional: bool = False
) -> PortRequirement:
    callers = _once(vital, others)
    return PortRequirement(node.host.name, node.host.address, port, port, "", service(node), callers, vital, optional)
