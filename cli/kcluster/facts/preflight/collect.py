"""Asks the hosts: one script for each host by itself, then one on all of them at the same time for the ways between."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kcluster.clients import host_scripts
from kcluster.config.file_paths import data_dirs, paths
from kcluster.errors import KclusterError
from kcluster.facts.preflight import disks, host_facts, network, port_matrix, system
from kcluster.model.endpoints import ports

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections
    from kcluster.model.cluster import Cluster

WITHIN = 30.0
PATIENCE, MORE_PATIENCE = 2.0, 10.0
"""Seconds for which a host knocks again at a door that is shut: all begin at the same time, more or less."""
COMMAND = "command -v python3 >/dev/null || exit 127; exec python3 -IS -"
"""Without the packages of the host, which would only slow it down."""


@dataclass
class PreflightFacts:
    """Everything the hosts told, and why some did not."""

    hosts: dict[str, host_facts.HostFacts] = field(default_factory=dict)
    networks: dict[str, host_facts.NetworkFacts] = field(default_factory=dict)
    skews: dict[str, host_facts.ClockSkew] = field(default_factory=dict)
    unreachable: dict[str, KclusterError] = field(default_factory=dict)
    no_sudo: dict[str, KclusterError] = field(default_factory=dict)
    no_python: dict[str, str] = field(default_factory=dict)


def collect(cluster: Cluster, connections: Connections) -> PreflightFacts:
    """Ask every host of the cluster everything."""
    told = PreflightFacts()
    wanted = {
        host.name: host_scripts.program("preflight_host", host_query(cluster, host.name)) for host in cluster.every_host
    }
    for name, answer in _round(told, connections, wanted).items():
        told.hosts[name] = host_facts.host(answer)
    again = {
        name: wanted[name] for name, host in told.hosts.items() if any(map(disks.too_slow, host.journals.values()))
    }
    for name, answer in _round(told, connections, again).items():  # a disk that only just wrote a lot is no slow disk
        told.hosts[name] = host_facts.host(answer)
    if _knock(told, cluster, connections, PATIENCE):
        _knock(told, cluster, connections, MORE_PATIENCE)  # a busy host may have opened its doors too late
    return told


def _knock(told: PreflightFacts, cluster: Cluster, connections: Connections, patience: float) -> bool:
    """Ask for the ways to the hosts, each of them and here; whether a door stayed shut that its host was to open."""
    questions = {
        name: {**asked, "patience": patience} for name, asked in port_matrix.questions(cluster, told.hosts).items()
    }
    scripts = {
        name: host_scripts.program("preflight_network", asked)
        for name, asked in questions.items()
        if name != port_matrix.HERE
    }
    here = host_scripts.load("preflight_network").attempts(questions[port_matrix.HERE])
    for name, answer in _round(told, connections, scripts).items():
        told.networks[name] = host_facts.network(answer)
    told.networks[port_matrix.HERE] = host_facts.NetworkFacts(
        knocks={(each.host, each.port): each.outcome() for each in here}
    )
    opened = {(name, door["port"]) for name, asked in questions.items() for door in asked["open"]}
    refused = {knock for network in told.networks.values() for knock, why in network.knocks.items() if why == "refused"}
    late = [door for door in port_matrix.port_requirements(cluster) if (door.host, door.opens) in opened]
    return any((door.address, door.port) in refused and not network.starting(door, told.networks) for door in late)


def host_query(cluster: Cluster, name: str) -> dict[str, Any]:
    """What is to be looked at on one host."""
    nodes = [node for node in cluster.every_node if node.host.name == name]
    return {
        "directories": [path for node in nodes for path in data_dirs(node)],
        "journals": [path for node in nodes if (path := disks.journal(node))],
        "units": [paths(node, log4j2=True).unit for node in nodes],
        "ports": sorted({port for node in nodes for port in ports(node)}),
        "java_homes": system.java_homes(nodes),
        "kernel": system.KERNEL,
        "addresses": any(network.own_address(node) for node in nodes),
        "users": sorted({node.places.user for node in nodes}),
    }


def _round(told: PreflightFacts, connections: Connections, scripts: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Run a script on each host, all at the same time; what they said."""
    if not scripts:
        return {}
    asked = time.time()
    answers = connections.run(COMMAND, stdin=scripts, only=list(scripts), become=True, within=WITHIN)
    answered, read = time.time(), {}
    for name, answer in answers.items():
        if isinstance(answer, KclusterError):
            # Both are an UnreachableError; only one of them says that we were in and what refused us.
            (told.no_sudo if "sudo" in answer.message else told.unreachable)[name] = answer
        elif (found := taken(told, name, answer, asked, answered)) is not None:
            read[name] = found
    return read


def taken(
    told: PreflightFacts, name: str, answer: CommandResult, asked: float, answered: float
) -> dict[str, Any] | None:
    """What a script said; what went wrong is noted, and so is the host's clock."""
    found = _read(told, name, answer)
    if found is not None:
        skew = host_facts.skew(asked, found["begun"], found["ended"], answered)
        told.skews[name] = told.skews.get(name, skew).narrowed(skew)
    return found


def _read(told: PreflightFacts, name: str, answer: CommandResult) -> dict[str, Any] | None:
    """The JSON of a script; without it Python is missing, too old or not whole."""
    if answer.code == 127 and not answer.stdout:
        told.no_python[name] = "there is no python3"
    elif answer.code:
        reason = (answer.stderr.splitlines() or ["no message"])[-1]
        told.no_python[name] = f"python3 ended with {answer.code}: {reason}"
    else:
        return dict(json.loads(answer.stdout.splitlines()[-1]))  # a login may greet with lines before
    return None
