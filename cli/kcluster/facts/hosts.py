"""Observing hosts: one script per host, all at once, gives everything that a plan and a status ask about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from kcluster import render
from kcluster.clients import host_scripts
from kcluster.config import file_paths
from kcluster.errors import KclusterError, RefusedError
from kcluster.model.observed import (
    ObservedDirectory,
    ObservedFile,
    ObservedHost,
    ObservedNode,
    ObservedUnit,
    Preparation,
)

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections
    from kcluster.model.cluster import Part
    from kcluster.model.host import Host
    from kcluster.model.node import Node

_NO_PYTHON = 127


def observe_hosts(
    part: Part, hosts: Connections, *, only: Iterable[str] | None = None
) -> dict[str, ObservedHost | KclusterError]:
    """What of a part is on every host, or on those named; the error where a host does not say."""
    names = set(only) if only is not None else {host.name for host in part.hosts}
    scripts = {
        host.name: host_scripts.program("observe_host", host_query(part, host))
        for host in part.hosts
        if host.name in names
    }
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(scripts), become=True)
    return {name: _understood(name, answer) for name, answer in answers.items()}


def observe_parts(
    parts: Sequence[Part], hosts: Connections, *, only: Iterable[str] | None = None
) -> list[dict[str, ObservedHost | KclusterError]]:
    """What of each part is on the hosts, all asked at the same time."""
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(lambda part: observe_hosts(part, hosts, only=only), parts))


def host_query(part: Part, host: Host) -> dict[str, Any]:
    """What one host is asked."""
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
    return {
        "name": node.name,
        "unit": file_paths.UNITS[node.kind],
        "files": [planned.path for planned in render.planned(part, node)],
        "directories": list(file_paths.data_dirs(node)),
    }


def _understood(name: str, answer: CommandResult | KclusterError) -> ObservedHost | KclusterError:
    if isinstance(answer, KclusterError):
        return answer
    if answer.code == _NO_PYTHON:
        return RefusedError(f"{name} has no python3", resolution=f"ssh {name} sudo apt-get install -y python3-minimal")
    if answer.code or not answer.stdout:
        return RefusedError(
            f"{name} cannot be looked at: its Python ended with {answer.code}",
            details=answer.stderr.strip()[-2000:],
            resolution=f"ssh {name} python3 --version; it has to be 3.8 or newer",
        )
    return observed_host(name, json.loads(answer.stdout.splitlines()[-1]))  # a login may greet with lines before


def observed_host(name: str, told: Mapping[str, Any]) -> ObservedHost:
    """A host out of what its script said."""
    nodes = {node: _node_seen(found) for node, found in told["nodes"].items()}
    rest = {key: value for key, value in told.items() if key not in ("nodes", "releases", "preparation")}
    return ObservedHost(
        name=name, nodes=nodes, releases=tuple(told["releases"]), preparation=_prepared(**told["preparation"]), **rest
    )


def _prepared(changes: Sequence[list[str]], files: Sequence[list[Any]], refused: str) -> Preparation:
    return Preparation(
        changes=tuple((what, before, after) for what, before, after in changes),
        files=tuple((path, there) for path, there in files),
        refused=refused,
    )


def _node_seen(told: Mapping[str, Any]) -> ObservedNode:
    return ObservedNode(
        unit=ObservedUnit(**told["unit"]),
        files={path: ObservedFile(**file) for path, file in told["files"].items()},
        started_with=told["started_with"],
        started_release=told["started_release"],
        directories={path: ObservedDirectory(**found) for path, found in told["directories"].items()},
    )
