"""The checks between hosts: ports, names, connections and clocks. Pure: facts in, results out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kcluster.facts.preflight.check_results import CheckResult, CheckSeverity
from kcluster.facts.preflight.port_matrix import (
    EVERYWHERE,
    HERE,
    PortRequirement,
    ours,
    port_requirements,
    running,
)
from kcluster.model.broker import Broker
from kcluster.model.endpoints import ports
from kcluster.model.ensemble import Server
from kcluster.model.finding import some
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.results import counted, enumerated

if TYPE_CHECKING:
    from kcluster.facts.preflight.host_facts import ClockSkew, HostFacts, NetworkFacts
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node

UNEVEN, TOO_UNEVEN = 0.5, 5.0
_UNRESOLVED = "does not resolve"
_REASONS = {"refused": "connection refused"}


def answers(
    cluster: Cluster,
    told: Mapping[str, HostFacts],
    networks: Mapping[str, NetworkFacts],
    skews: Mapping[str, ClockSkew],
) -> Iterator[CheckResult]:
    """Everything between the hosts that answered."""
    for name in told:
        yield from taken(cluster, name, told[name], networks.get(name))
        yield from bound(cluster, name, told[name])
    for name, network in networks.items():
        yield from own_names(cluster, name, network)
        yield from names(name, network)
    yield from matrix(cluster, told, networks)
    yield from clocks(skews)


def taken(cluster: Cluster, name: str, host: HostFacts, network: NetworkFacts | None = None) -> Iterator[CheckResult]:
    """The ports of every node are free, or its own unit holds them."""
    for node in cluster.every_node:
        if node.host.name != name:
            continue
        for port in ports(node):
            holder, refused = host.ports.get(port), (network.unopened if network else {}).get(port, "")
            if holder and not ours(holder.unit, node):
                who = f"pid {holder.pid}, {holder.program}" if holder.pid else "an unknown program"
                fix = (
                    f"systemctl stop {holder.unit}"
                    if holder.unit.endswith(".service")
                    else f"kill {holder.pid or 'it'}"
                )
                told = f"port {port} of {node.name} is held by {who}"
                yield CheckResult(
                    "port-taken", CheckSeverity.ERROR, name, told, "a free port", f"{fix}, or another port"
                )
            elif refused and "assign" not in refused:
                told, fix = f"port {port} of {node.name} cannot be opened: {refused}", "kcluster explain port-taken"
                yield CheckResult("port-taken", CheckSeverity.ERROR, name, told, "a free port", fix)
            else:
                yield CheckResult(
                    "port-taken", CheckSeverity.OK, name, f"port {port}: {'our unit' if holder else 'free'}"
                )


def own_address(node: Node) -> bool:
    """Whether a listener of the node binds an address; names are left to the resolver."""
    return isinstance(node, Broker) and any(_numeric(listener.host) for listener in node.listeners)


def bound(cluster: Cluster, name: str, host: HostFacts) -> Iterator[CheckResult]:
    """Every address that a listener binds is one of its host."""
    brokers = [node for node in cluster.brokers if node.host.name == name]
    for listener in (each for broker in brokers for each in broker.listeners):
        if not _numeric(listener.host) or listener.host in host.addresses:
            told = f"listener {listener.name}: {listener.host or 'every address'}"
            yield CheckResult("bind-address", CheckSeverity.OK, name, told)
        else:
            told = f"listener {listener.name} binds {listener.host}, which the host does not have"
            fix = f"leave host of the listener out, or use one of {', '.join(host.addresses)}"
            yield CheckResult("bind-address", CheckSeverity.ERROR, name, told, "an address of the host", fix)


def _numeric(bind: str) -> bool:
    return bind not in EVERYWHERE and (bind.replace(".", "").isdigit() or ":" in bind)


def own_names(cluster: Cluster, name: str, network: NetworkFacts) -> Iterator[CheckResult]:
    """A host does not take its own name for a loopback address; ZooKeeper and Spark would listen on that only."""
    here = (node for node in cluster.every_node if node.host.name == name)
    binding = {node.host.address for node in here if isinstance(node, Server | SparkDaemon)}
    alone = len(cluster.every_host) == 1
    for own, found in network.own_names.items():
        loops = [address for address in found if address.startswith("127.") or address == "::1"]
        if not loops or alone:
            yield CheckResult("own-name", CheckSeverity.OK, name, f"{own} is {', '.join(found) or 'unknown here'}")
            continue
        severity = CheckSeverity.ERROR if own in binding else CheckSeverity.WARNING
        fix = f"take {own} out of the line of {loops[0]} in /etc/hosts"
        yield CheckResult(
            "own-name", severity, name, f"{own} resolves to {loops[0]} on the host itself", "its address", fix
        )


def names(name: str, network: NetworkFacts) -> Iterator[CheckResult]:
    """Every name of the others resolves."""
    asked = dict.fromkeys(other for other, _ in network.knocks)
    lost = {other for (other, _), why in network.knocks.items() if why.startswith(_UNRESOLVED)}
    lost |= {own for own, found in network.own_names.items() if not found}
    for other in sorted(lost):
        fix = f"add {other} to DNS or to /etc/hosts of {name}"
        yield CheckResult(
            "name-resolution", CheckSeverity.ERROR, name, f"{other} does not resolve", "a known name", fix
        )
    if not lost:
        yield CheckResult("name-resolution", CheckSeverity.OK, name, f"{len(asked)} names of others resolve")


def matrix(
    cluster: Cluster, told: Mapping[str, HostFacts], networks: Mapping[str, NetworkFacts]
) -> Iterator[CheckResult]:
    """Every host reaches the ports of the others, and this machine its own; what no host reaches is one result."""
    wanted = [endpoint for endpoint in port_requirements(cluster) if endpoint.host in told]
    failed = _failures(wanted, networks, running_hosts(cluster, told))
    for (place, caller, _, why, severity), endpoints in _grouped(wanted, failed, networks).items():
        between = "for this machine" if place == HERE else "between the hosts"
        fix = f"open {'the ports' if len(endpoints) > 1 else 'the port'} {between}: kcluster explain port-matrix"
        found = f"{_ports(endpoints)} cannot be reached from {caller}: {_REASONS.get(why, why)}"
        yield CheckResult("port-matrix", severity, place, found, "an open connection", fix)
    yield from _later(wanted, networks)
    for caller in networks:
        probed = [endpoint for endpoint in wanted if caller in endpoint.callers and not starting(endpoint, networks)]
        if probed and not any(caller == other for other, _ in failed):
            hosts = len({endpoint.host for endpoint in probed})
            reached = f"reaches {counted(len(probed), 'port')} of {counted(hosts, 'host')}"
            yield CheckResult("port-matrix", CheckSeverity.OK, caller, reached)


def starting(endpoint: PortRequirement, networks: Mapping[str, NetworkFacts]) -> bool:
    """Whether an endpoint was not tested because its unit is starting and has not opened it yet."""
    return endpoint.host in networks and endpoint.opens in networks[endpoint.host].starting


def _later(wanted: Iterable[PortRequirement], networks: Mapping[str, NetworkFacts]) -> Iterator[CheckResult]:
    """The endpoints that could not be tried, because a node is just starting; one line for each."""
    units: dict[tuple[str, str], list[str]] = {}
    for endpoint in wanted:
        if starting(endpoint, networks):
            units.setdefault((endpoint.host, endpoint.unit), []).append(endpoint.label)
    for (host, unit), labels in units.items():
        told = f"{enumerated(dict.fromkeys(labels))} not tested: {unit} is starting and opens its ports itself"
        yield CheckResult("port-matrix", CheckSeverity.INFO, host, told, "", "check again when it has started")


def running_hosts(cluster: Cluster, told: Mapping[str, HostFacts]) -> set[tuple[str, int]]:
    """The ports of nodes that run: there a closed peer port is only a follower."""
    alive = running(cluster, told)
    return {(node.host.name, port) for node in cluster.every_node if node.name in alive for port in ports(node)}


def _failures(
    wanted: Iterable[PortRequirement], networks: Mapping[str, NetworkFacts], alive: set[tuple[str, int]]
) -> dict[tuple[str, PortRequirement], str]:
    found = {}
    for endpoint in wanted:
        for caller in endpoint.callers:
            why = networks[caller].knocks.get((endpoint.address, endpoint.port), "") if caller in networks else ""
            closed = starting(endpoint, networks) or (endpoint.optional and (endpoint.host, endpoint.opens) in alive)
            passed = why == "refused" and closed
            if why and not passed and not why.startswith(_UNRESOLVED):
                found[caller, endpoint] = why
    return found


def _grouped(
    wanted: Iterable[PortRequirement],
    failed: Mapping[tuple[str, PortRequirement], str],
    networks: Mapping[str, NetworkFacts],
) -> dict[tuple[str, str, str, str, CheckSeverity], list[PortRequirement]]:
    """The endpoints by subject, caller, reason and severity; for hosts also by host, for this machine by port."""
    groups: dict[tuple[str, str, str, str, CheckSeverity], list[PortRequirement]] = {}
    for endpoint in wanted:
        shut = {caller: failed[caller, endpoint] for caller in endpoint.callers if (caller, endpoint) in failed}
        hosts = [caller for caller in endpoint.callers if caller in networks and caller != HERE]
        for callers in _together(shut, hosts):
            place, caller = (callers[0], callers[0]) if len(callers) == 1 else (endpoint.host, "any other host")
            across = str(endpoint.port) if place == HERE else endpoint.host
            weight = _weight(any(caller in endpoint.vital for caller in callers))
            groups.setdefault((place, caller, across, shut[callers[0]], weight), []).append(endpoint)
    return groups


def _together(shut: Mapping[str, str], hosts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The callers of one result: all hosts when each failed for the same reason, else each by itself."""
    reasons = {shut.get(host, "") for host in hosts}
    alike = len(hosts) > 1 and len(reasons) == 1 and "" not in reasons
    yield from [tuple(hosts)] if alike else [(host,) for host in hosts if host in shut]
    if HERE in shut:
        yield (HERE,)


def _weight(vital: bool) -> CheckSeverity:
    return CheckSeverity.ERROR if vital else CheckSeverity.WARNING


def _ports(endpoints: Sequence[PortRequirement]) -> str:
    """The ports with their hosts: "ports 2181 and 9092 of h1", "port 9092 of h1, h2 and 4 more"."""
    ports = list(dict.fromkeys(str(endpoint.port) for endpoint in endpoints))
    hosts = list(dict.fromkeys(endpoint.label.rpartition(":")[0] for endpoint in endpoints))
    return f"{'port' if len(ports) == 1 else 'ports'} {enumerated(ports)} of {some(hosts)}"


def clocks(skews: Mapping[str, ClockSkew]) -> Iterator[CheckResult]:
    """The clocks agree: each with the one in the middle, and only what is certain counts."""
    if len(skews) < 2:
        return
    order = sorted(skews, key=lambda name: skews[name].middle)
    middle = order[(len(order) - 1) // 2]
    for name, skew in skews.items():
        certain = max(skew.low - skews[middle].high, skews[middle].low - skew.high, 0.0)
        away = skew.middle - skews[middle].middle
        told = f"{abs(away):.1f} s {'ahead of' if away > 0 else 'behind'} {middle}"
        if certain > UNEVEN:
            severity = CheckSeverity.ERROR if certain > TOO_UNEVEN else CheckSeverity.WARNING
            yield CheckResult(
                "clock-skew",
                severity,
                name,
                told,
                f"{UNEVEN} s or less",
                "apt-get install chrony, or dnf install chrony",
            )
        else:
            yield CheckResult("clock-skew", CheckSeverity.OK, name, "agrees with the other hosts")
