"""Write a starter inventory that validates at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kcluster.errors import RefusedError, UsageError
from kcluster.model import quorum
from kcluster.render.starter_inventory import Starter, files
from kcluster.results import Message, counted

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class InitRequest:
    """The options of `init`; None where an option was not given."""

    brokers: int = 3
    zookeepers: int | None = None
    kraft: bool = False
    controllers: int | None = None
    hosts: Sequence[str] = ()
    name: str = ""


def init(directory: Path, request: InitRequest) -> Message:
    """Write the inventory to a new or empty directory; RefusedError for any other, UsageError for wrong options."""
    starter = plan(request, directory.absolute().name)
    try:
        _must_be_free(directory)
        for path, text in files(starter).items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_text(text)
    except OSError as problem:
        raise RefusedError(
            f"cannot write {problem.filename or directory}: {problem.strerror}",
            resolution="choose a directory you can write to",
        ) from problem
    return Message(f"wrote {directory}: {_counts(starter)}", _next(directory, starter))


def plan(request: InitRequest, directory: str) -> Starter:
    """The content of the inventory: which hosts get which nodes; UsageError for wrong options."""
    name = request.name or directory
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid cluster name", resolution="set --name to letters, digits, `.`, `_` and `-`"
        )
    metadata_nodes = _metadata_nodes(request)
    if not 1 <= request.brokers <= 999:
        raise UsageError(f"--brokers {request.brokers} is out of range", resolution="use --brokers from 1 to 999")
    first, second = _assign(request, metadata_nodes) if request.hosts else _local_names(request, metadata_nodes)
    return Starter(
        name=name,
        brokers=second,
        zookeepers=() if request.kraft else first,
        controllers=first if request.kraft else (),
        cluster_id=quorum.new_cluster_id() if request.kraft else "",
        local=not request.hosts,
    )


def _metadata_nodes(request: InitRequest) -> int:
    """The number of ZooKeeper servers or controllers; UsageError names the option."""
    if request.kraft and request.zookeepers is not None:
        raise UsageError("--zookeepers cannot be used with --kraft", resolution="use --controllers, or remove --kraft")
    if request.controllers is not None and not request.kraft:
        raise UsageError("--controllers needs --kraft", resolution="add --kraft, or use --zookeepers")
    given = request.controllers if request.kraft else request.zookeepers
    option = "--controllers" if request.kraft else "--zookeepers"
    count = 3 if given is None else given
    if not 1 <= count <= 99 or count % 2 == 0:
        raise UsageError(
            f"{option} must be odd: 1, 3 or 5", resolution=f"use {option} 3, or {option} 5, instead of {count}"
        )
    return count


def _local_names(request: InitRequest, metadata_nodes: int) -> tuple[Sequence[str], Sequence[str]]:
    """Host names of nodes that all run on this machine."""
    kind = "controller" if request.kraft else "zookeeper"
    return [f"{kind}{n}" for n in range(1, metadata_nodes + 1)], [f"broker{n}" for n in range(1, request.brokers + 1)]


def _assign(request: InitRequest, metadata_nodes: int) -> tuple[Sequence[str], Sequence[str]]:
    """The hosts of the metadata nodes and of the brokers: separate if there are enough, else shared."""
    hosts = list(request.hosts)
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise UsageError(f"--hosts: {host!r} is not a host name", resolution="use --hosts host1,host2,host3")
        if hosts.count(host) > 1:
            raise UsageError(f"--hosts names {host} {hosts.count(host)} times", resolution="name each host once")
    apart, together = metadata_nodes + request.brokers, max(metadata_nodes, request.brokers)
    if len(hosts) not in (apart, together):
        metadata = counted(metadata_nodes, "controller" if request.kraft else "ZooKeeper server")
        raise UsageError(
            f"--hosts names {counted(len(hosts), 'host')}; {metadata} and {counted(request.brokers, 'broker')} "
            f"need {together} or {apart}",
            resolution=f"name {together} hosts to share, or {apart} for separate hosts; or change --brokers",
        )
    return hosts[:metadata_nodes], hosts[metadata_nodes:] if len(hosts) == apart else hosts[: request.brokers]


def _must_be_free(directory: Path) -> None:
    if directory.is_dir() and not any(directory.iterdir()):
        return
    if directory.exists():
        fact = "is not empty" if directory.is_dir() else "is a file"
        raise RefusedError(f"{directory} {fact}: nothing was written", resolution="choose a new directory")


def _counts(starter: Starter) -> str:
    metadata = (
        counted(len(starter.controllers), "controller")
        if starter.controllers
        else counted(len(starter.zookeepers), "ZooKeeper server")
    )
    return f"{metadata} and {counted(len(starter.brokers), 'broker')}"


def _next(directory: Path, starter: Starter) -> Sequence[str]:
    steps = ("validate", "up") if starter.local else ("validate", "check", "provision")
    return [f"  kcluster {step} -i {directory}" for step in steps]
