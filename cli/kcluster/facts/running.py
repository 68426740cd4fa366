"""What runs: whether the unit of each node has a process, and what that was started with; one script per host."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kcluster.clients import host_scripts
from kcluster.config import file_paths, log_files
from kcluster.errors import KclusterError
from kcluster.facts.started import as_started
from kcluster.model.endpoints import port_of
from kcluster.model.running import ProcessState, Recovery, Running
from kcluster.plan import file_diff
from kcluster.render import Role

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
    from kcluster.model.observed import ObservedHost, ObservedUnit


def observed(running: Running, nodes: Iterable[Node], hosts: Connections) -> Running:
    """The same with what the hosts of these nodes say now, all asked at once.

    A host that does not answer leaves open whether its nodes run.
    """
    by_host: dict[str, list[Node]] = {}
    for node in nodes:
        by_host.setdefault(node.host.name, []).append(node)
    answers = _ask(by_host, hosts)
    processes: dict[str, ProcessState] = {}
    started: dict[str, Node] = {}
    recoveries: dict[str, Recovery] = {}
    for host, of_host in by_host.items():
        for node in of_host:
            facts = answers[host].get(node.name)
            if facts and (text := facts["started_with"].get(_config(node))):
                started[node.name] = as_started(node, file_diff.settings(Role.CONFIG, text))
            if facts and "recovery" in facts:
                recoveries[node.name] = Recovery(**facts["recovery"])
            processes[node.name] = _process(facts, port_of(started.get(node.name, node)))
    return running.observed(processes, started, recoveries)


def seen(cluster: Cluster, hosts: Mapping[str, ObservedHost]) -> Running:
    """The same out of the facts of a plan, with the properties of each process, and of nodes that only have data."""
    processes: dict[str, ProcessState] = {}
    started: dict[str, Node] = {}
    properties: dict[str, Mapping[str, str]] = {}
    for node in cluster.nodes:
        found = hosts[node.host.name].nodes.get(node.name) if node.host.name in hosts else None
        if found is None:
            continue
        path = _config(node)
        there = found.files.get(path)
        text = found.started_with.get(path) if found.unit.running else None
        if text is None and there and (found.unit.running or any(each.written for each in found.directories.values())):
            text = there.text
        if text is not None:
            properties[node.name] = file_diff.settings(Role.CONFIG, text)
        if found.unit.running:
            started[node.name] = as_started(node, properties.get(node.name, {}))
        processes[node.name] = _state(found.unit, port_of(started.get(node.name, node)))
    return replace(Running(cluster).observed(processes, started), settings=properties)


def _state(unit: ObservedUnit, port: int) -> ProcessState:
    if unit.state == "missing":
        return ProcessState.UNKNOWN
    if not unit.running:
        return ProcessState.NONE
    listening = any(address.endswith(f":{port}") for address in unit.listening)
    return ProcessState.LISTENING if listening else ProcessState.STARTING


def _process(facts: Mapping[str, Any] | None, port: int) -> ProcessState:
    if facts is None or facts["unit"]["state"] == "missing":
        return ProcessState.UNKNOWN
    if facts["unit"]["pid"] is None:
        return ProcessState.NONE
    listening = any(address.endswith(f":{port}") for address in facts["unit"]["listening"])
    return ProcessState.LISTENING if listening else ProcessState.STARTING


def _ask(by_host: Mapping[str, list[Node]], hosts: Connections) -> dict[str, Mapping[str, Any]]:
    """The facts of the nodes of each host, by the node's name; none of a host that does not answer."""
    scripts = {host: _program(nodes) for host, nodes in by_host.items()}
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(scripts), become=True)
    return {host: _facts(answer) for host, answer in answers.items()}


def _facts(answer: CommandResult | KclusterError) -> Mapping[str, Any]:
    if isinstance(answer, KclusterError) or answer.code:
        return {}
    facts: Mapping[str, Any] = json.loads(answer.stdout.splitlines()[-1])  # a login may greet with lines before
    return facts


def _program(nodes: Iterable[Node]) -> str:
    return host_scripts.program("observe_host", {"nodes": list(map(_asked, nodes))}, function="processes")


def _asked(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "unit": file_paths.UNITS[node.kind],
        "files": [_config(node)],
        "port": port_of(node),
        "log": log_files.main_file(node),
    }


def _config(node: Node) -> str:
    return file_paths.paths(node, log4j2=False).config
