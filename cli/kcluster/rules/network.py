"""Rules about machines, addresses and ports: nodes reach each other, and values are valid in systemd units."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Server
from kcluster.model.finding import WHO, Finding, Location, Severity, listed, some, times
from kcluster.model.listener import Listener
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.spark_cluster import SparkDaemon, SparkMaster, SparkWorker

_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EVERY_ADDRESS = ("0.0.0.0", "::", "[::]")
_ADDRESS = re.compile(r"[A-Za-z0-9._:\[\]-]+")
"""Includes the colons and brackets of IPv6, which `ipv6_by_name` reports."""


def one_node_of_a_kind_per_machine(cluster: Cluster) -> Iterator[Finding]:
    """A machine has at most one node of a kind: two would share a unit and its files."""
    by_machine: dict[tuple[Kind, str], list[Node]] = defaultdict(list)
    for node in cluster.every_node:
        by_machine[node.kind, node.host.machine].append(node)
    for (kind, machine), nodes in by_machine.items():
        if len(nodes) > 1:
            names = [node.host.name for node in nodes]
            yield Finding(
                f"{some(names)} are the same machine ({machine}), which can run 1 {kind} only",
                f"correct ansible_host of {names[-1]}, or remove {names[-1]} from the group",
                Location(names[-1], "ansible_host"),
            )


def all_hosts_local_or_none(cluster: Cluster) -> Iterator[Finding]:
    """All hosts are on this machine or none is: other hosts cannot reach the addresses of local ones."""
    hosts = cluster.every_host
    local = [host.name for host in hosts if host.local]
    if local and len(local) < len(hosts):
        yield Finding(
            f"ansible_connection: local is set for {len(local)} of {len(hosts)} hosts ({some(local)}), not for all",
            "remove it: kcluster reaches this machine over SSH like the other hosts",
            Location(local[0], "ansible_connection"),
        )


def valid_addresses(cluster: Cluster) -> Iterator[Finding]:
    """Addresses are host names or IP addresses: they are written into properties, units and shell commands."""
    for host in cluster.every_host:
        if "{{" not in host.address and not _ADDRESS.fullmatch(host.address):  # the builder reports templates
            yield Finding(
                f"ansible_host of {host.name} is {host.address!r}, not a host name or IPv4 address",
                "set ansible_host to a name or an IPv4 address, and the login in ansible_user",
                Location(host.name, "ansible_host"),
            )
    for broker, listener in _listeners(cluster):
        addresses = {listener.host, listener.advertised_host} - {"", broker.host.address}
        if invalid := sorted(address for address in addresses if not _ADDRESS.fullmatch(address)):
            yield _listener_finding(
                broker,
                listener,
                f"has the address {invalid[0]!r}, not a host name or IPv4 address",
                "set host or advertised_host to a name or an IPv4 address",
            )


def valid_accounts(cluster: Cluster) -> Iterator[Finding]:
    """Users and groups are valid account names: they are written into units."""
    for node in cluster.every_node:
        prefix = "spark" if isinstance(node, SparkDaemon) else "kafka"
        for variable, account in (("user", node.places.user), ("group", node.places.group)):
            if not _ACCOUNT.fullmatch(account):
                yield Finding(
                    f"{prefix}_{variable} of {node.name} is {account!r}, not a valid account name",
                    "use lower-case letters, digits, `_` and `-`, with a letter first",
                    Location(node.host.name),
                )


def valid_environment_names(cluster: Cluster) -> Iterator[Finding]:
    """Environment variables have valid names: they are written into environment files."""
    for node in cluster.every_node:
        for name in node.environment:
            if not _VARIABLE.fullmatch(name):
                yield Finding(
                    f"environment variable {name!r} of {node.name} has an invalid name",
                    "use letters, digits and `_`, with no digit first",
                    Location(node.host.name),
                )


def advertised_addresses_reachable(cluster: Cluster) -> Iterator[Finding]:
    """Clients and brokers on other hosts can connect to each advertised address."""
    one_machine = len({host.machine for host in cluster.hosts}) == 1
    for broker, listener in _listeners(cluster):
        address = listener.advertised_host
        if address in _EVERY_ADDRESS:
            yield _listener_finding(
                broker,
                listener,
                f"advertises {address}, which clients cannot connect to",
                "set advertised_host to a name that clients can resolve, or remove it",
            )
        elif _loopback(address) and not broker.host.local:
            yield _listener_finding(
                broker,
                listener,
                f"advertises {address}, a loopback address that other hosts cannot reach",
                f"set ansible_host or advertised_host of {WHO} to an address that other hosts can reach",
                Severity.WARNING if one_machine else Severity.ERROR,
            )


def metadata_addresses_reachable(cluster: Cluster) -> Iterator[Finding]:
    """Brokers on other machines can reach the ZooKeeper servers or controllers."""
    if len({host.machine for host in cluster.hosts}) == 1:
        return
    for node in cluster.metadata.nodes:
        if _loopback(node.host.address) and not node.host.local:
            yield Finding(
                f"{node.name} on {node.host.name} has the loopback address {node.host.address}, "
                "which other hosts cannot reach",
                f"set ansible_host of {node.host.name} to an address that other hosts can reach",
                Location(node.host.name, "ansible_host"),
            )


def ipv6_by_name(cluster: Cluster) -> Iterator[Finding]:
    """IPv6 hosts are given by name: `address:port` is ambiguous with the colons of an IPv6 address."""
    for host in cluster.every_host:
        if ":" in host.address and not host.local:
            yield Finding(
                f"ansible_host of {host.name} is {host.address}: IPv6 addresses are supported by name only",
                "use a name that resolves to this address on every host and on this machine (DNS or /etc/hosts)",
                Location(host.name, "ansible_host"),
            )
    for broker, listener in _listeners(cluster):
        address = listener.advertised_host
        if ":" in address and address not in (*_EVERY_ADDRESS, broker.host.address) and not broker.host.local:
            yield _listener_finding(
                broker,
                listener,
                f"advertises {address}: IPv6 addresses are supported by name only",
                "set advertised_host to a name that resolves to this address",
            )


def advertised_addresses_unique(cluster: Cluster) -> Iterator[Finding]:
    """An advertised address and port belongs to one broker."""
    by_address: dict[str, list[tuple[Broker, Listener]]] = defaultdict(list)
    for broker, listener in _listeners(cluster):
        machine = broker.host.name if broker.host.local else ""
        by_address[machine + listener.address].append((broker, listener))
    for holders in by_address.values():
        if len({broker.id for broker, _ in holders}) > 1:
            broker, listener = holders[-1]
            yield Finding(
                f"{listener.address} is advertised by {some(each.host.name for each, _ in holders)}",
                "give each broker its own advertised_host or advertised_port",
                Location(broker.host.name, "kafka_listeners", listener.name),
            )


def listener_names_unique(cluster: Cluster) -> Iterator[Finding]:
    """A listener name is used once on a broker; Kafka ignores upper and lower case."""
    labels: set[tuple[str, str]] = set()
    for broker, listener in _listeners(cluster):
        if (broker.host.name, listener.label) in labels:
            yield _listener_finding(
                broker,
                listener,
                "has a name that is used twice (Kafka ignores case)",
                "rename one of the two",
            )
        labels.add((broker.host.name, listener.label))


def inter_broker_listeners_match(cluster: Cluster) -> Iterator[Finding]:
    """Every broker has the inter-broker listener of every other one, with the same protocol."""
    protocols = {broker.name: {each.label: each.protocol for each in broker.listeners} for broker in cluster.brokers}
    for broker in cluster.brokers:
        inner = broker.internal
        missing = [name for name, labels in protocols.items() if labels.get(inner.label) != inner.protocol]
        if missing:
            yield Finding(
                f"{WHO} connects to other brokers at listener {inner.label} ({inner.protocol}), "
                f"which {some(missing)} {'does' if len(missing) == 1 else 'do'} not have",
                "give every broker a listener with this name and protocol, or set kafka_inter_broker_listener",
                Location(broker.host.name, "kafka_listeners"),
                who=broker.host.name,
            )


def controller_listener_name_free(cluster: Cluster) -> Iterator[Finding]:
    """With KRaft no broker's listener has the name of the controllers' listener."""
    for broker, listener in _listeners(cluster) if isinstance(cluster.metadata, Quorum) else ():
        if listener.label == "CONTROLLER":
            yield _listener_finding(
                broker, listener, "has the name of the listener of the KRaft controllers", "rename it"
            )


def client_protocol_served(cluster: Cluster) -> Iterator[Finding]:
    """Each broker has a listener with the clients' security protocol, where the inventory sets client properties."""
    client = cluster.client
    for broker in cluster.brokers if client.written else ():
        if broker.listener_for(client.protocol).protocol != client.protocol:
            yield Finding(
                f"{client.origin}: security.protocol is {client.protocol}, but no listener of {WHO} has this protocol",
                f"add a listener with `protocol: {client.protocol}`, or correct security.protocol",
                Location(broker.host.name, "kafka_client_properties", "security.protocol"),
                who=broker.host.name,
            )


def ports_unique(cluster: Cluster) -> Iterator[Finding]:
    """A port of a machine is used by one listener of one node."""
    by_port: dict[tuple[str, int], list[tuple[Node, str, str]]] = defaultdict(list)
    for node in cluster.every_node:
        for port, purpose, variable in _ports(node):
            by_port[node.host.machine, port].append((node, purpose, variable))
    for (machine, port), users in by_port.items():
        if len(users) > 1:
            node, _, variable = users[-1]
            several = any(each is not node for each, _, _ in users)
            purposes = [f"{purpose} of {each.name}" if several else purpose for each, purpose, _ in users]
            yield Finding(
                f"port {port} of {WHO} is used {times(len(users))}: {listed(purposes)}",
                f"change {variable} of {node.host.name}" if several else f"change {variable}",
                Location(node.host.name, variable),
                who=machine,
            )


def _loopback(address: str) -> bool:
    return address in ("localhost", "::1", "[::1]") or address.startswith("127.")


def _listeners(cluster: Cluster) -> Iterator[tuple[Broker, Listener]]:
    """Every listener of every broker."""
    for broker in cluster.brokers:
        yield from ((broker, listener) for listener in broker.listeners)


def _listener_finding(
    broker: Broker, listener: Listener, fact: str, resolution: str, severity: Severity = Severity.ERROR
) -> Finding:
    """A finding about one listener; the message is "listener NAME of HOST" and the fact."""
    return Finding(
        f"listener {listener.name} of {WHO} {fact}",
        resolution,
        Location(broker.host.name, "kafka_listeners", listener.name),
        severity,
        broker.host.name,
    )


def _ports(node: Node) -> Iterator[tuple[int, str, str]]:
    """The ports of a node, what each is for, and the variable that sets it."""
    if isinstance(node, Server):
        yield node.client_port, "client port", "zookeeper_client_port"
        yield node.peer_port, "peer port", "zookeeper_peer_port"
        yield node.election_port, "election port", "zookeeper_election_port"
    elif isinstance(node, Controller):
        yield node.port, "controller listener", "kafka_controller_port"
    elif isinstance(node, Broker):
        for listener in node.listeners:
            yield listener.port, f"listener {listener.name}", "kafka_listeners"
    elif isinstance(node, SparkMaster):
        yield node.port, "master port", "spark_master_port"
        yield node.web_port, "web UI", "spark_master_web_port"
    elif isinstance(node, SparkWorker):
        yield node.port, "worker port", "spark_worker_port"
        yield node.web_port, "web UI", "spark_worker_web_port"


RULES = (
    one_node_of_a_kind_per_machine,
    all_hosts_local_or_none,
    valid_addresses,
    valid_accounts,
    valid_environment_names,
    advertised_addresses_reachable,
    metadata_addresses_reachable,
    ipv6_by_name,
    advertised_addresses_unique,
    listener_names_unique,
    inter_broker_listeners_match,
    controller_listener_name_free,
    client_protocol_served,
    ports_unique,
)
