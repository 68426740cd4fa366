"""The diagnosis of a failed start: the unit, the last lines of the log, the known cause, and who uses the port."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.config import log_files
from kcluster.config.file_paths import UNITS, paths
from kcluster.errors import ApplyError, KclusterError
from kcluster.model.broker import Broker
from kcluster.model.ensemble import Server
from kcluster.model.failure_causes import PORT_IN_USE, Cause, cause_of
from kcluster.model.node import Node
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.results import counted
from kcluster.rollout.cluster_lock import LOST

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections

_SEPARATOR = "--- kcluster ---"
_BEGIN = f"echo '{_SEPARATOR}'\n"
"""Where an answer begins: a login may greet with lines before."""
_SHOWN_LINES = 12
_LOG_LINES = 4000
"""Lines of the log in which the cause is looked for: a broker writes 400 with each start, and may start again."""
_HOLDER = re.compile(r'\("(?P<program>[^"]+)",pid=(?P<pid>\d+)')
_PROPERTIES = ("Id", "Description", "LoadState", "ActiveState", "SubState", "Result", "ExecMainStatus", "NRestarts")


class LockLostError(ApplyError):
    """A host that does not know the lock of this run any more has left its node alone."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"the lock on {node.host.name} was lost before {node.name} was stopped")
        self.host = node.host.name


@dataclass(frozen=True)
class StartMark:
    """Where a node's start begins: what was written before does not belong to it."""

    node: Node
    since: int = 0
    """Seconds since 1970, by the clock of the host."""
    log_size: int = 0


@dataclass(frozen=True)
class UnitState:
    """A unit as systemd sees it."""

    active: str
    """"active", "activating", "deactivating", "inactive", "failed"; "missing" when there is no such unit."""
    sub: str = ""
    result: str = ""
    status: str = ""
    """The exit code of its last process."""
    restarts: int = 0
    description: str = ""
    """Of its unit file: "Kafka broker 1 of staging"."""

    @property
    def running(self) -> bool:
        """Whether its process is there, or on its way."""
        return self.active in ("active", "activating", "reloading")

    @property
    def died(self) -> bool:
        """Whether it has no process although it should run; systemd may be about to try again."""
        return self.active == "failed" or self.sub == "auto-restart"

    def __str__(self) -> str:
        """One line, like that of `systemctl status`."""
        ended = f", its last process ended with {self.status} ({self.result})" if self.result != "success" else ""
        tries = f", {counted(self.restarts, 'restart')} by systemd" if self.restarts else ""
        return f"{self.active} ({self.sub}){ended}{tries}"


@dataclass(frozen=True)
class Diagnosis:
    """Why a node does not serve, as far as its host shows."""

    node: Node
    unit: UnitState
    output: tuple[str, ...]
    """The lines of its console and log since it was started."""
    holders: tuple[str, ...] = ()
    """The processes that use its ports."""

    @property
    def cause(self) -> tuple[Cause, str] | None:
        """The known cause, and the line that shows it; None when it is unknown."""
        return cause_of(self.output)

    @property
    def text(self) -> str:
        """The cause as it stands after a colon; empty when it is unknown."""
        if not self.cause:
            return ""
        users = f" ({'; '.join(self.holders)})" if self.cause[0] is PORT_IN_USE and self.holders else ""
        return f"{self.cause[0].text}{users}"

    @property
    def lines(self) -> list[str]:
        """The unit's state and the last lines, the one that shows the cause among them."""
        last = list(self.output[-_SHOWN_LINES:])
        if self.cause and self.cause[1] not in [line.strip() for line in last]:
            last = [self.cause[1], *last[1:]]
        return [f"unit {UNITS[self.node.kind]} on {self.node.host.name}: {self.unit}", *last]

    @property
    def resolution(self) -> str:
        """What to do."""
        if self.cause:
            return self.cause[0].host_fix
        return f"read its log: kcluster logs -i INV {self.node.name} (on the host: {log_files.main_file(self.node)})"


def units(nodes: Iterable[Node], hosts: Connections) -> dict[str, UnitState]:
    """The unit of each node, from all hosts at once; raises the error of a host that does not answer."""
    by_node: dict[str, UnitState] = {}
    for of_host, shown in _ask(nodes, lambda nodes: f"{_show(map(unit_of, nodes))}\n", hosts):
        by_unit = {facts["Id"]: _unit(facts) for facts in _blocks(shown)}
        by_node |= {node.name: by_unit[f"{unit_of(node)}.service"] for node in of_host}
    return by_node


def marks(nodes: Sequence[Node], hosts: Connections) -> list[StartMark]:
    """Where the starts of these nodes will begin when they are started by Ansible."""
    start_marks = []
    for of_host, numbers in _ask(nodes, _marks, hosts):
        since, *sizes = map(int, numbers.split())
        start_marks += [StartMark(node, since, size) for node, size in zip(of_host, sizes, strict=True)]
    return start_marks


def _ask(
    nodes: Iterable[Node], script: Callable[[Sequence[Node]], str], hosts: Connections
) -> Iterator[tuple[list[Node], str]]:
    """The nodes of each host and the output of its script, all at once; raises the error of an unreachable host."""
    by_host: dict[str, list[Node]] = {}
    for node in nodes:
        by_host.setdefault(node.host.name, []).append(node)
    scripts = {host: f"{_BEGIN}{script(of_host)}" for host, of_host in by_host.items()}
    for host, answer in hosts.run("sh -s", stdin=scripts, only=list(by_host), become=True).items():
        if isinstance(answer, KclusterError):
            raise answer
        yield by_host[host], _output(answer)


def _output(answer: CommandResult) -> str:
    return answer.stdout.partition(f"{_SEPARATOR}\n")[2]


def command(verb: str, nodes: Sequence[Node], hosts: Connections, *, within: float, guard: str = "") -> list[StartMark]:
    """Start, stop or restart the units of nodes on different hosts at once; where each one's start begins.

    Blocks until systemd is done, at most `within` seconds; ApplyError with a diagnosis when it fails. `guard` is run
    before, and LockLostError raised when it finds the lock of the run lost.
    """
    scripts = {node.host.name: guard + systemctl_script(verb, node) for node in nodes}
    answers = hosts.run("sh -s", stdin=scripts, only=list(scripts), become=True, within=within)
    start_marks = []
    for node in nodes:
        answer = answers[node.host.name]
        if isinstance(answer, KclusterError):
            raise answer
        if answer.code == LOST:
            raise LockLostError(node)
        since, size = [*map(int, _output(answer).split()), 0, 0][:2]
        start_marks.append(StartMark(node, since, size))
        if answer.code:
            raise _refused(verb, start_marks[-1], answer, hosts)
    return start_marks


def _refused(verb: str, mark: StartMark, answer: CommandResult, hosts: Connections) -> ApplyError:
    """The error for a systemctl command that failed, with the diagnosis of the host."""
    node, diagnosed = mark.node, diagnose(mark, hosts)
    why = f": {diagnosed.text}" if diagnosed.text else ""
    status = f"ssh {node.host.name} systemctl status {unit_of(node)}"
    return ApplyError(
        f"{node.name} on {node.host.name}: systemctl {verb} {unit_of(node)} ended with {answer.code}{why}",
        details="\n".join([*answer.stderr.strip().splitlines(), *diagnosed.lines]),
        resolution=diagnosed.resolution if diagnosed.cause else status,
    )


def diagnose(mark: StartMark, hosts: Connections) -> Diagnosis:
    """The diagnosis of a start that did not succeed; raises when its host cannot be reached."""
    node = mark.node
    answer = hosts.ask(node.host.name, "sh -s", stdin=diagnosis_script(mark), become=True)
    shown, console, log, sockets = (part.strip("\n") for part in _output(answer).split(f"{_SEPARATOR}\n"))
    output = (*console.splitlines(), *log.splitlines())
    return Diagnosis(node, _unit(next(_blocks(shown))), output, tuple(_port_users(node, sockets)))


def unit_of(node: Node) -> str:
    """The name of the node's unit."""
    return UNITS[node.kind]


def _show(names: Iterable[str]) -> str:
    return shlex.join(["systemctl", "show", "--property", ",".join(_PROPERTIES), *names])


def _marks(nodes: Sequence[Node]) -> str:
    """The host's clock, and how long each node's log is."""
    sizes = [f"stat -c %s {shlex.quote(log_files.main_file(node))} 2>/dev/null || echo 0" for node in nodes]
    return "\n".join(["date +%s", *sizes, ""])


def systemctl_script(verb: str, node: Node) -> str:
    """The script that starts, stops or restarts a unit; earlier failures are reset, or systemd might refuse a start."""
    unit = unit_of(node)
    before = activation(node) if verb == "restart" else ""
    return f"systemctl reset-failed {unit} 2>/dev/null\n{_BEGIN}{_marks([node])}{before}exec systemctl {verb} {unit}\n"


def activation(node: Node) -> str:
    """The script that lets a unit start the release that was installed last, at the node's turn and not before."""
    folder, link = posixpath.split(paths(node, log4j2=False).release)
    flip = f"cp -dT --remove-destination current .{link}.new && mv -fT .{link}.new {link}"
    return f"(cd {shlex.quote(folder)} && {flip}) || exit\n"


def diagnosis_script(mark: StartMark) -> str:
    """The script that shows a node's unit, console, log and sockets since a start; a rolled log is read whole."""
    node = mark.node
    return (
        f"{_BEGIN}{_show([unit_of(node)])}\n"
        f"echo '{_SEPARATOR}'\n"
        f"journalctl --unit {unit_of(node)} --since @{mark.since} --output cat --quiet --no-pager --lines 200\n"
        f"echo '{_SEPARATOR}'\n"
        f"log={shlex.quote(log_files.main_file(node))}\n"
        f"from={mark.log_size}\n"
        '[ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -ge "$from" ] || from=0\n'
        f'tail -c "+$((from + 1))" "$log" 2>/dev/null | tail -n {_LOG_LINES}\n'
        f"echo '{_SEPARATOR}'\n"
        "ss -Hltnp\n"
    )


def _blocks(shown: str) -> Iterator[dict[str, str]]:
    """The properties of each unit, out of `systemctl show`: an empty line separates two."""
    for block in shown.strip().split("\n\n"):
        yield {key: value for key, _, value in (line.partition("=") for line in block.splitlines())}


def _unit(facts: Mapping[str, str]) -> UnitState:
    missing = facts.get("LoadState") == "not-found"
    return UnitState(
        active="missing" if missing else facts.get("ActiveState", ""),
        sub=facts.get("SubState", ""),
        result=facts.get("Result", ""),
        status=facts.get("ExecMainStatus", ""),
        restarts=int(facts.get("NRestarts") or 0),
        description=facts.get("Description", ""),
    )


def _port_users(node: Node, sockets: str) -> Iterator[str]:
    """The processes that listen on the node's ports, out of the lines of `ss`."""
    ports = {str(port) for port in _ports(node)}
    for line in sockets.splitlines():
        fields = line.split()
        port = fields[3].rpartition(":")[2] if len(fields) > 3 else ""
        if port in ports and (holder := _HOLDER.search(line)):
            yield f"{port} is used by {holder['program']}, pid {holder['pid']}"


def _ports(node: Node) -> tuple[int, ...]:
    if isinstance(node, Server):
        return node.client_port, node.peer_port, node.election_port
    if isinstance(node, Controller):
        return (node.port,)
    if isinstance(node, SparkDaemon):
        return node.port, node.web_port
    assert isinstance(node, Broker)
    return tuple(listener.port for listener in node.listeners)
