"""What runs: whether the unit of each node has a process, and what that was started with; one script per host."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients import host_scripts
from kcluster.config import file_paths
from kcluster.errors import KclusterError
from kcluster.facts.hosts import observe_parts, observed_node, process_query
from kcluster.facts.started import as_started
from kcluster.model.endpoints import last_port
from kcluster.model.observed import ObservedHost, ObservedNode
from kcluster.model.running import ProcessState, Running
from kcluster.plan import file_diff
from kcluster.render import Role

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections
    from kcluster.facts.reach import Reach
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node

T = TypeVar("T")
Seen = Sequence[Mapping[str, ObservedHost | KclusterError]]
"""What was seen of each part of a cluster, by the names of the hosts."""


def observed(running: Running, nodes: Iterable[Node], hosts: Connections) -> Running:
    """The same with what the hosts of these nodes say now, all asked at once.

    A host that does not answer leaves open whether its nodes run.
    """
    by_host: dict[str, list[Node]] = {}
    for node in nodes:
        by_host.setdefault(node.host.name, []).append(node)
    scripts = {host: _program(of_host) for host, of_host in by_host.items()}
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(scripts), become=True)
    seen = {name: node for answer in answers.values() for name, node in _nodes(answer).items()}
    return _newer(running, [node for of_host in by_host.values() for node in of_host], seen)


def asked(cluster: Cluster, hosts: Connections, reach: Reach, ask: Callable[[Cluster], T]) -> tuple[Seen, Running, T]:
    """All that the hosts say, what runs, and the answers of the cluster where its processes listen.

    It is asked where the inventory has it while the hosts are, and once more when its processes are elsewhere or
    this machine did not reach them.
    """
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, cluster)
        seen = observe_parts(cluster.parts, hosts)
        running = of_hosts(cluster, seen)
        answers = asking.result()
    reach.learn(running)
    return seen, running, ask(running.cluster) if running.moved(cluster) or reach.misses else answers


def of_hosts(cluster: Cluster, seen: Seen) -> Running:
    """What runs, out of all that was seen on hosts."""
    hosts = [host for of_part in seen for host in of_part.values() if isinstance(host, ObservedHost)]
    nodes = {name: node for host in hosts for name, node in host.nodes.items()}
    return _newer(Running(cluster), cluster.every_node, nodes)


def _newer(running: Running, nodes: Iterable[Node], seen: Mapping[str, ObservedNode]) -> Running:
    processes: dict[str, ProcessState] = {}
    started: dict[str, Node] = {}
    settings: dict[str, Mapping[str, str]] = {}
    for node in nodes:
        found = seen.get(node.name)
        if found and (text := _read(found, _config(node))) is not None:
            settings[node.name] = file_diff.settings(Role.CONFIG, text)
        if found and found.unit.running and node.name in settings:
            started[node.name] = as_started(node, settings[node.name])
        processes[node.name] = _process(found, last_port(started.get(node.name, node), running.cluster))
    waiting = {name for name, state in processes.items() if state is ProcessState.STARTING}
    recoveries = {name: node.recovery for name, node in seen.items() if name in waiting and node.recovery}
    releases = {name: seen[name].started_release for name in started if seen[name].started_release}
    return running.observed(processes, started, recoveries, settings, releases)


def _read(node: ObservedNode, path: str) -> str | None:
    """The configuration that the process has read, or that a node would read which has no process and has data."""
    there = node.files.get(path)
    on_disk = there.text if there else None
    if node.unit.running:
        return node.started_with.get(path, on_disk)
    return on_disk if any(each.written for each in node.directories.values()) else None


def _process(found: ObservedNode | None, port: int) -> ProcessState:
    if found is None or found.unit.state == "missing":
        return ProcessState.UNKNOWN
    if not found.unit.running:
        return ProcessState.NONE
    listening = any(address.endswith(f":{port}") for address in found.unit.listening)
    return ProcessState.LISTENING if listening else ProcessState.STARTING


def _nodes(answer: CommandResult | KclusterError) -> dict[str, ObservedNode]:
    if isinstance(answer, KclusterError) or answer.code:
        return {}
    facts = json.loads(answer.stdout.splitlines()[-1])  # a login may greet with lines before
    return {name: observed_node(found) for name, found in facts.items()}


def _program(nodes: Iterable[Node]) -> str:
    queries = [process_query(node, [_config(node)]) for node in nodes]
    return host_scripts.program("observe_host", {"nodes": queries}, function="processes")


def _config(node: Node) -> str:
    return file_paths.paths(node, log4j2=False).config
