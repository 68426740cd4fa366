"""The facts of hosts: one script per host, all at once, collects everything that a plan needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from kcluster import render
from kcluster.clients import host_scripts
from kcluster.config import file_paths, log_files
from kcluster.errors import KclusterError, RefusedError
from kcluster.model.endpoints import port_of
from kcluster.model.observed import (
    ObservedDirectory,
    ObservedFile,
    ObservedHost,
    ObservedNode,
    ObservedUnit,
    Preparation,
)
from kcluster.model.running import Recovery

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections
    from kcluster.model.cluster import Part
    from kcluster.model.host import Host
    from kcluster.model.node import Node

_NO_PYTHON = 127


def observe_hosts(
    part: Part, hosts: Connections, *, only: Iterable[str] | None = None
) -> dict[str, ObservedHost | KclusterError]:
    """What each host has of a part, of all hosts or only those named; an error where a host does not answer."""
    names = set(only) if only is not None else {host.name for host in part.hosts}
    scripts = {
        host.name: host_scripts.program("observe_host", host_query(part, host))
        for host in part.hosts
        if host.name in names
    }
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(scripts), become=True)
    return {name: _parsed(name, answer) for name, answer in answers.items()}


def observe_parts(
    parts: Sequence[Part], hosts: Connections, *, only: Iterable[str] | None = None
) -> list[dict[str, ObservedHost | KclusterError]]:
    """What the hosts have of each part, all asked at the same time."""
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(lambda part: observe_hosts(part, hosts, only=only), parts))


def host_query(part: Part, host: Host) -> dict[str, Any]:
    """The query to one host."""
    nodes = part.on(host)
    where, environment = nodes[0].places, nodes[0].environment
    return {
        "install_dir": where.install_dir,
        "preparation": {key: getattr(where, key) for key in ("user", "group", "install_dir", "config_dir", "log_dir")},
        "java_home": environment.get("JAVA_HOME", ""),
        "path": environment.get("PATH", ""),
        "nodes": [_asked(part, node) for node in nodes],
    }


def _asked(part: Part, node: Node) -> dict[str, Any]:
    files = [planned.path for planned in render.planned(part, node)]
    where = {"link": file_paths.paths(node, log4j2=False).release, "directories": list(file_paths.data_dirs(node))}
    return {**process_query(node, files), **where}


def process_query(node: Node, files: Sequence[str]) -> dict[str, Any]:
    """The query for the process of a node, and for these files as it was started with them."""
    return {
        "name": node.name,
        "unit": file_paths.UNITS[node.kind],
        "files": list(files),
        "port": port_of(node),
        "log": log_files.main_file(node),
    }


def _parsed(name: str, answer: CommandResult | KclusterError) -> ObservedHost | KclusterError:
    if isinstance(answer, KclusterError):
        return answer
    if answer.code == _NO_PYTHON:
        return RefusedError(f"{name} has no python3", resolution=f"ssh {name} sudo apt-get install -y python3-minimal")
    if answer.code or not answer.stdout:
        return RefusedError(
            f"{name} cannot be inspected: its Python ended with code {answer.code}",
            details=answer.stderr.strip()[-2000:],
            resolution=f"ssh {name} python3 --version; it has to be 3.8 or newer",
        )
    return observed_host(name, json.loads(answer.stdout.splitlines()[-1]))  # a login may greet with lines before


def observed_host(name: str, facts: Mapping[str, Any]) -> ObservedHost:
    """A host, out of the output of its script."""
    nodes = {node: observed_node(found) for node, found in facts["nodes"].items()}
    rest = {key: value for key, value in facts.items() if key not in ("nodes", "releases", "preparation")}
    return ObservedHost(
        name=name, nodes=nodes, releases=tuple(facts["releases"]), preparation=_prepared(**facts["preparation"]), **rest
    )


def _prepared(changes: Sequence[list[str]], files: Sequence[list[Any]], refused: str) -> Preparation:
    return Preparation(
        changes=tuple((what, before, after) for what, before, after in changes),
        files=tuple((path, there) for path, there in files),
        refused=refused,
    )


def observed_node(facts: Mapping[str, Any]) -> ObservedNode:
    """A node, out of what the script says of it; of its process only, or also of its files and directories."""
    unit = {**facts["unit"], "listening": tuple(facts["unit"]["listening"])}
    return ObservedNode(
        unit=ObservedUnit(**unit),
        files={path: ObservedFile(**file) for path, file in facts.get("files", {}).items()},
        started_with=facts["started_with"],
        started_release=facts["started_release"],
        link=facts.get("link", ""),
        recovery=Recovery(**facts["recovery"]) if facts["recovery"] else None,
        directories={path: ObservedDirectory(**found) for path, found in facts.get("directories", {}).items()},
    )
