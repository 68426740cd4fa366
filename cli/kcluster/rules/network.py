"""Rules about machines, addresses and ports: who can reach whom, and what may stand in units as it is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Server
from kcluster.model.finding import WHO, Finding, Location, Severity, some
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.spark_cluster import SparkMaster, SparkWorker

_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EVERY_ADDRESS = ("0.0.0.0", "::", "[::]")
_ADDRESS = re.compile(r"[A-Za-z0-9._:\[\]-]+")
"""With the colons and brackets of IPv6, of which another rule tells more."""


def _loopback(address: str) -> bool:
    return address in ("localhost", "::1", "[::1]") or address.startswith("127.")


def plain_addresses(cluster: Cluster) -> Iterator[Finding]:
    """An address is a name or numbers: it is written into properties, units and lines for a shell."""
    for host in cluster.every_host:
        if "{{" not in host.address and not _ADDRESS.fullmatch(
            host.address
        ):  # templates are told of where they are read
            yield Finding(
                f"{host.address!r} is no address of {host.name}",
                "write a name or an IPv4 address as ansible_host, and who logs in as ansible_user",
                Location(host.name, "ansible_host"),
            )
    for broker in cluster.brokers:
        for listener in broker.listeners:
            written = {listener.host, listener.advertised_host} - {"", broker.host.address}
            if wrong := sorted(each for each in written if not _ADDRESS.fullmatch(each)):
                yield Finding(
                    f"{wrong[0]!r} is no address for listener {listener.name} of {WHO}",
                    "write a name or an IPv4 address",
                    Location(broker.host.name, "kafka_listeners", listener.name),
                    who=broker.host.name,
                )


def one_of_a_kind(cluster: Cluster) -> Iterator[Finding]:
    """A machine has one node of a kind: two would share a unit and its files."""
    holders: dict[tuple[Kind, str], list[Node]] = defaultdict(list)
    for node in cluster.every_node:
        holders[node.kind, node.host.machine].append(node)
    for (kind, machine), nodes in holders.items():
        if len(nodes) > 1:
            names = [node.host.name for node in nodes]
            yield Finding(
                f"{some(names)} are one machine ({machine}), and it can have one {kind} only",
                f"correct ansible_host of {names[-1]}, or take it out of the group",
                Location(names[-1], "ansible_host"),
            )


def here_or_elsewhere(cluster: Cluster) -> Iterator[Finding]:
    """All hosts are on this machine or none is: the addresses of local ones mean nothing to others."""
    local = [host.name for host in cluster.every_host if host.local]
    if local and len(local) < len(cluster.every_host):
        yield Finding(
            f"ansible_connection: local is said of {', '.join(local[:3])}, and not of every host",
            "remove it: a host that this machine is itself is reached over SSH as the others are",
            Location(local[0], "ansible_connection"),
        )


def plain_names(cluster: Cluster) -> Iterator[Finding]:
    """Accounts and names of environment variables are written into units as they are."""
    for node in cluster.every_node:
        for account in (node.places.user, node.places.group):
            if not _ACCOUNT.fullmatch(account):
                yield Finding(
                    f"{account!r} is no account for {node.name}",
                    "write lower-case letters, digits, `_` and `-`, a letter first",
                    Location(node.host.name),
                )
        for name in node.environment:
            if not _VARIABLE.fullmatch(name):
                yield Finding(
                    f"{name!r} is no name of an environment variable of {node.name}",
                    "write letters, digits and `_`, no digit first",
                    Location(node.host.name),
                )


def advertised_addresses(cluster: Cluster) -> Iterator[Finding]:
    """What a broker advertises must lead others to it."""
    alone = len({host.machine for host in cluster.hosts}) == 1
    for broker in cluster.brokers:
        for listener in broker.listeners:
            address = listener.advertised_host
            who = f"listener {listener.name} of {WHO}"
            spot = Location(broker.host.name, "kafka_listeners", listener.name)
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
    if len({host.machine for host in cluster.hosts}) == 1:
        return
    for node in cluster.metadata.nodes:
        if _loopback(node.host.address) and not node.host.local:
            yield Finding(
                f"{node.name} on {node.host.name} has the address {node.host.address}, where others find themselves",
                f"set ansible_host of {node.host.name} to an address that others can reach",
                Location(node.host.name, "ansible_host"),
            )


def told_from_ports(cluster: Cluster) -> Iterator[Finding]:
    """Addresses are written with a port behind them, where the colons of an IPv6 address are taken for that one."""
    for host in cluster.every_host:
        if ":" in host.address and not host.local:
            yield Finding(
                f"ansible_host of {host.name} is {host.address}; kcluster takes IPv6 by name only",
                "write a name that leads to this address on every host and here, in DNS or in /etc/hosts",
                Location(host.name, "ansible_host"),
            )
    for broker in cluster.brokers:
        for listener in broker.listeners:
            address = listener.advertised_host
            if ":" in address and address not in (*_EVERY_ADDRESS, broker.host.address) and not broker.host.local:
                yield Finding(
                    f"listener {listener.name} of {WHO} advertises {address}; kcluster takes IPv6 by name only",
                    "write an advertised_host that leads to this address",
                    Location(broker.host.name, "kafka_listeners", listener.name),
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
                Location(broker.host.name, "kafka_listeners", name),
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
                    Location(broker.host.name, "kafka_listeners", listener.name),
                    who=broker.host.name,
                )
            seen.add(listener.label)


def brokers_hear_each_other(cluster: Cluster) -> Iterator[Finding]:
    """The listener by which a broker calls the others is there on each of them, and speaks the same."""
    spoken = {broker.name: {each.label: each.protocol for each in broker.listeners} for broker in cluster.brokers}
    for broker in cluster.brokers:
        inner = broker.internal
        deaf = [name for name, labels in spoken.items() if labels.get(inner.label) != inner.protocol]
        if deaf:
            yield Finding(
                f"{WHO} calls other brokers by listener {inner.label} ({inner.protocol}), which {some(deaf)} "
                f"{'does' if len(deaf) == 1 else 'do'} not have",
                "give every broker a listener of that name and protocol, or write kafka_inter_broker_listener",
                Location(broker.host.name, "kafka_listeners"),
                who=broker.host.name,
            )


def the_controllers_own_name(cluster: Cluster) -> Iterator[Finding]:
    """With KRaft the name CONTROLLER is that of the controllers' listener."""
    for broker in cluster.brokers if isinstance(cluster.metadata, Quorum) else ():
        for listener in broker.listeners:
            if listener.label == "CONTROLLER":
                yield Finding(
                    f"listener {listener.name} of {WHO} has the name of the controllers' own listener",
                    "rename it",
                    Location(broker.host.name, "kafka_listeners", listener.name),
                    who=broker.host.name,
                )


def clients_come_in(cluster: Cluster) -> Iterator[Finding]:
    """Each broker has a listener that speaks the protocol of the clients, when the inventory tells it."""
    client = cluster.client
    for broker in cluster.brokers if client.written else ():
        if broker.listener_for(client.protocol).protocol != client.protocol:
            yield Finding(
                f"clients speak {client.protocol} as {client.origin} says, and no listener of {WHO} does",
                f"add a listener with `protocol: {client.protocol}`, or correct security.protocol",
                Location(broker.host.name, "kafka_client_properties", "security.protocol"),
                who=broker.host.name,
            )


def ports(cluster: Cluster) -> Iterator[Finding]:
    """A port of a machine belongs to one listener of one node."""
    holders: dict[tuple[str, int], list[tuple[Node, str, str]]] = defaultdict(list)
    for node in cluster.every_node:
        for port, what, word in _ports(node):
            holders[node.host.machine, port].append((node, what, word))
    for (machine, port), found in holders.items():
        if len(found) > 1:
            node, _, word = found[-1]
            shared = any(each is not node for each, _, _ in found)
            wanted = [f"{what} of {each.name}" if shared else what for each, what, _ in found]
            yield Finding(
                f"port {port} of {WHO} is wanted {_times(len(found))}: for {some(wanted)}",
                f"change {word} of {node.host.name}" if shared else f"change {word}",
                Location(node.host.name, word),
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
    elif isinstance(node, SparkMaster):
        yield node.port, "workers and jobs", "spark_master_port"
        yield node.web_port, "the web page", "spark_master_web_port"
    elif isinstance(node, SparkWorker):
        yield node.port, "executors", "spark_worker_port"
        yield node.web_port, "the web page", "spark_worker_web_port"


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


RULES = (
    one_of_a_kind,
    here_or_elsewhere,
    plain_addresses,
    plain_names,
    advertised_addresses,
    keepers_addresses,
    told_from_ports,
    advertised_once,
    listener_names,
    brokers_hear_each_other,
    the_controllers_own_name,
    clients_come_in,
    ports,
)
