"""Rules about addresses and ports: who can reach whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.engine import Master, Worker
from kcluster.model.ensemble import Server
from kcluster.model.finding import WHO, Finding, Severity, Spot, some
from kcluster.model.host import Host
from kcluster.model.node import Node
from kcluster.model.quorum import Controller

_EVERY_ADDRESS = ("0.0.0.0", "::", "[::]")


def _loopback(address: str) -> bool:
    return address in ("localhost", "::1", "[::1]") or address.startswith("127.")


def _machine(host: Host) -> str:
    """Hosts with the same address are the same machine; each local host is placed apart by `kcluster up`."""
    return host.name if host.local else host.address


def advertised_addresses(cluster: Cluster) -> Iterator[Finding]:
    """What a broker advertises must lead others to it."""
    alone = len({_machine(host) for host in cluster.hosts}) == 1
    for broker in cluster.brokers:
        for listener in broker.listeners:
            address = listener.advertised_host
            who = f"listener {listener.name} of {WHO}"
            spot = Spot(broker.host.name, "kafka_listeners", listener.name)
            if address in _EVERY_ADDRESS:
                yield Finding(
                    f"{who} advertises {address}, which is no address to connect to",
                    "write an advertised_host that clients can resolve, or leave it out",
                    spot,
                    who=broker.host.name,
                )
            elif _loopback(address) and not broker.host.local:
                yield Finding(
                    f"{who} advertises {address}, where others find themselves",
                    f"set ansible_host or advertised_host of {WHO} to an address that others can reach",
                    spot,
                    Severity.WARNING if alone else Severity.ERROR,
                    broker.host.name,
                )


def keepers_addresses(cluster: Cluster) -> Iterator[Finding]:
    """The brokers, on other machines, must reach the keepers of the metadata."""
    if len({_machine(host) for host in cluster.hosts}) == 1:
        return
    for node in cluster.metadata.nodes:
        if _loopback(node.host.address) and not node.host.local:
            yield Finding(
                f"{node.name} on {node.host.name} has the address {node.host.address}, where others find themselves",
                f"set ansible_host of {node.host.name} to an address that others can reach",
                Spot(node.host.name, "ansible_host"),
            )


def told_from_ports(cluster: Cluster) -> Iterator[Finding]:
    """Addresses are written with a port behind them, where the colons of an IPv6 address are taken for that one."""
    for host in cluster.every_host:
        if ":" in host.address and not host.local:
            yield Finding(
                f"ansible_host of {host.name} is {host.address}; kcluster takes IPv6 by name only",
                "write a name that leads to this address on every host and here, in DNS or in /etc/hosts",
                Spot(host.name, "ansible_host"),
            )
    for broker in cluster.brokers:
        for listener in broker.listeners:
            address = listener.advertised_host
            if ":" in address and address not in (*_EVERY_ADDRESS, broker.host.address) and not broker.host.local:
                yield Finding(
                    f"listener {listener.name} of {WHO} advertises {address}; kcluster takes IPv6 by name only",
                    "write an advertised_host that leads to this address",
                    Spot(broker.host.name, "kafka_listeners", listener.name),
                    who=broker.host.name,
                )


def advertised_once(cluster: Cluster) -> Iterator[Finding]:
    """An advertised address leads to one listener."""
    holders: dict[str, list[tuple[Broker, str]]] = defaultdict(list)
    for broker in cluster.brokers:
        for listener in broker.listeners:
            place = broker.host.name if broker.host.local else ""
            holders[place + listener.address].append((broker, listener.name))
    for found in holders.values():
        if len({broker.id for broker, _ in found}) > 1:
            broker, name = found[-1]
            address = next(listener.address for listener in broker.listeners if listener.name == name)
            yield Finding(
                f"{address} is advertised by {some(each.host.name for each, _ in found)}",
                "give each broker an advertised_host or advertised_port of its own",
                Spot(broker.host.name, "kafka_listeners", name),
            )


def listener_names(cluster: Cluster) -> Iterator[Finding]:
    """A listener's name is unique on its broker; Kafka does not tell upper from lower case."""
    for broker in cluster.brokers:
        seen: set[str] = set()
        for listener in broker.listeners:
            if listener.label in seen:
                yield Finding(
                    f"two listeners of {WHO} are named {listener.name}, and Kafka does not tell upper from lower case",
                    "rename one of them",
                    Spot(broker.host.name, "kafka_listeners", listener.name),
                    who=broker.host.name,
                )
            seen.add(listener.label)


def clients_come_in(cluster: Cluster) -> Iterator[Finding]:
    """Each broker has a listener that speaks the protocol of the clients, when the inventory tells it."""
    client = cluster.client
    for broker in cluster.brokers if client.written else ():
        if broker.listener_for(client.protocol).protocol != client.protocol:
            yield Finding(
                f"clients speak {client.protocol} as {client.origin} says, and no listener of {WHO} does",
                f"add a listener with `protocol: {client.protocol}`, or correct security.protocol",
                Spot(broker.host.name, "kafka_client_properties", "security.protocol"),
                who=broker.host.name,
            )


def ports(cluster: Cluster) -> Iterator[Finding]:
    """A port of a machine belongs to one listener of one node."""
    holders: dict[tuple[str, int], list[tuple[Node, str, str]]] = defaultdict(list)
    for node in cluster.every_node:
        for port, what, word in _ports(node):
            holders[_machine(node.host), port].append((node, what, word))
    for (machine, port), found in holders.items():
        if len(found) > 1:
            node, _, word = found[-1]
            shared = any(each is not node for each, _, _ in found)
            wanted = [f"{what} of {each.name}" if shared else what for each, what, _ in found]
            yield Finding(
                f"port {port} of {WHO} is wanted {_times(len(found))}: for {some(wanted)}",
                f"change {word} of {node.host.name}" if shared else f"change {word}",
                Spot(node.host.name, word),
                who=machine,
            )


def _ports(node: Node) -> Iterator[tuple[int, str, str]]:
    """The ports of a node, what each is for, and the word that sets it."""
    if isinstance(node, Server):
        yield node.client_port, "the clients", "zookeeper_client_port"
        yield node.peer_port, "the peers", "zookeeper_peer_port"
        yield node.election_port, "the election", "zookeeper_election_port"
    elif isinstance(node, Controller):
        yield node.port, "the listener", "kafka_controller_port"
    elif isinstance(node, Broker):
        for listener in node.listeners:
            yield listener.port, f"listener {listener.name}", "kafka_listeners"
    elif isinstance(node, Master):
        yield node.port, "workers and jobs", "spark_master_port"
        yield node.web_port, "the web page", "spark_master_web_port"
    elif isinstance(node, Worker):
        yield node.port, "executors", "spark_worker_port"
        yield node.web_port, "the web page", "spark_worker_web_port"


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


RULES = (
    advertised_addresses,
    keepers_addresses,
    told_from_ports,
    advertised_once,
    listener_names,
    clients_come_in,
    ports,
)
