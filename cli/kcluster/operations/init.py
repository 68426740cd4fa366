"""Write a starter inventory that validates at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kcluster.errors import RefusedError, UsageError
from kcluster.model import quorum
from kcluster.render.starter_inventory import Starter, files
from kcluster.results import Message

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class InitRequest:
    """What the user asks for; None where nothing was said."""

    brokers: int = 3
    zookeepers: int | None = None
    kraft: bool = False
    controllers: int | None = None
    hosts: Sequence[str] = ()
    name: str = ""


def init(directory: Path, wish: InitRequest) -> Message:
    """Write the inventory; nothing that exists is overwritten."""
    starter = plan(wish, directory.absolute().name)
    try:
        _must_be_free(directory)
        for path, text in files(starter).items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_text(text)
    except OSError as problem:
        raise RefusedError(
            f"cannot write {problem.filename or directory}: {problem.strerror}",
            resolution="choose a directory of yours",
        ) from problem
    return Message(f"wrote {directory}: {_counts(starter)}", _next(directory, starter))


def plan(wish: InitRequest, directory: str) -> Starter:
    """Which hosts get which nodes."""
    name = wish.name or directory
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a cluster", resolution="--name NAME, of letters, digits, `.`, `_` and `-`"
        )
    keepers = _keepers(wish)
    if not 1 <= wish.brokers <= 999:
        raise UsageError(f"{wish.brokers} brokers are not possible", resolution="--brokers with a number from 1 to 999")
    first, second = _place(wish, keepers) if wish.hosts else _invent(wish, keepers)
    return Starter(
        name=name,
        brokers=second,
        zookeepers=() if wish.kraft else first,
        controllers=first if wish.kraft else (),
        cluster_id=quorum.new_cluster_id() if wish.kraft else "",
        local=not wish.hosts,
    )


def _keepers(wish: InitRequest) -> int:
    """How many keep the metadata, with the option that says so in every complaint."""
    if wish.kraft and wish.zookeepers is not None:
        raise UsageError("--kraft needs no ZooKeeper", resolution="use --controllers, or leave --kraft out")
    if wish.controllers is not None and not wish.kraft:
        raise UsageError("--controllers belongs to KRaft", resolution="add --kraft, or use --zookeepers")
    asked = wish.controllers if wish.kraft else wish.zookeepers
    option = "--controllers" if wish.kraft else "--zookeepers"
    count = 3 if asked is None else asked
    if not 1 <= count <= 99 or count % 2 == 0:
        raise UsageError(
            f"{option} {count}: a majority needs an odd number, at least 1", resolution=f"{option} 3, or {option} 5"
        )
    return count


def _invent(wish: InitRequest, keepers: int) -> tuple[Sequence[str], Sequence[str]]:
    """Names for nodes that all live on this machine."""
    word = "controller" if wish.kraft else "zookeeper"
    return [f"{word}{n}" for n in range(1, keepers + 1)], [f"broker{n}" for n in range(1, wish.brokers + 1)]


def _place(wish: InitRequest, keepers: int) -> tuple[Sequence[str], Sequence[str]]:
    """The named hosts: apart when there are enough of them, else the keepers beside the first brokers."""
    hosts = list(wish.hosts)
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise UsageError(f"{host!r} is not a host", resolution="--hosts host1,host2,host3")
        if hosts.count(host) > 1:
            raise UsageError(f"--hosts names {host} {hosts.count(host)} times", resolution="name each host once")
    apart, together = keepers + wish.brokers, max(keepers, wish.brokers)
    if len(hosts) not in (apart, together):
        what = "controllers" if wish.kraft else "ZooKeeper servers"
        raise UsageError(
            f"--hosts names {len(hosts)}; {keepers} {what} and {wish.brokers} brokers need {together} or {apart} hosts",
            resolution=f"name {together} hosts to share, or {apart} to keep them apart; --brokers N changes the number",
        )
    return hosts[:keepers], hosts[keepers:] if len(hosts) == apart else hosts[: wish.brokers]


def _must_be_free(directory: Path) -> None:
    if directory.is_dir() and not any(directory.iterdir()):
        return
    if directory.exists():
        what = "is not empty" if directory.is_dir() else "is a file"
        raise RefusedError(f"{directory} {what}, nothing was written", resolution="name a new directory")


def _counts(starter: Starter) -> str:
    keepers = starter.controllers or starter.zookeepers
    what = "controller" if starter.controllers else "ZooKeeper server"
    return f"{len(keepers)} {what}{_s(keepers)} and {len(starter.brokers)} broker{_s(starter.brokers)}"


def _s(things: Sequence[str]) -> str:
    return "" if len(things) == 1 else "s"


def _next(directory: Path, starter: Starter) -> Sequence[str]:
    steps = ("validate", "up") if starter.local else ("validate", "check", "provision")
    return [f"  kcluster {step} -i {directory}" for step in steps]
