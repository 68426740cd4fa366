"""What became of a node on its host: its unit, its last words, the known cause, and who holds its port."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.config import log_files
from kcluster.config.file_paths import UNITS
from kcluster.errors import ApplyError, KclusterError
from kcluster.model.broker import Broker
from kcluster.model.ensemble import Server
from kcluster.model.failure_causes import PORT_IN_USE, Cause, cause_of
from kcluster.model.node import Node
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections

_CUT = "--- kcluster ---"
_BEGIN = f"echo '{_CUT}'\n"
"""Where an answer begins: a login may greet with lines before."""
_LINES = 12
_LOOKED_THROUGH = 4000
"""Lines of the log in which the cause is looked for: a broker writes 400 with each start, and may start again."""
_LISTENING = re.compile(r"^\s*\d+: [0-9A-F]+:(?P<port>[0-9A-F]{4}) ", re.MULTILINE)
_HOLDER = re.compile(r'\("(?P<program>[^"]+)",pid=(?P<pid>\d+)')
_ASKED = ("Id", "Description", "LoadState", "ActiveState", "SubState", "Result", "ExecMainStatus", "NRestarts")


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
    """What it says of itself: "Kafka broker 1 of staging"."""

    @property
    def running(self) -> bool:
        """Whether its process is there, or on its way."""
        return self.active in ("active", "activating", "reloading")

    @property
    def died(self) -> bool:
        """Whether it has no process although it should run; systemd may be about to try again."""
        return self.active == "failed" or self.sub == "auto-restart"

    def __str__(self) -> str:
        """One line, as `systemctl status` says it."""
        ended = f", its last process ended with {self.status} ({self.result})" if self.result != "success" else ""
        tries = f", {self.restarts} restarts by systemd" if self.restarts else ""
        return f"{self.active} ({self.sub}){ended}{tries}"


@dataclass(frozen=True)
class Diagnosis:
    """Why a node does not serve, as far as its host tells."""

    node: Node
    unit: UnitState
    said: tuple[str, ...]
    """What it said since it was started, on its console and in its log."""
    holders: tuple[str, ...] = ()
    """Who holds its ports."""

    @property
    def cause(self) -> tuple[Cause, str] | None:
        """The known cause, and the line that tells it."""
        return cause_of(self.said)

    @property
    def text(self) -> str:
        """The cause in words that fit after a colon; empty when it is not known."""
        if not self.cause:
            return ""
        held = f" ({'; '.join(self.holders)})" if self.cause[0] is PORT_IN_USE and self.holders else ""
        return f"{self.cause[0].text}{held}"

    @property
    def lines(self) -> list[str]:
        """The unit's state and the last words, the telling one among them."""
        last = list(self.said[-_LINES:])
        if self.cause and self.cause[1] not in [line.strip() for line in last]:
            last = [self.cause[1], *last[1:]]
        return [f"unit {UNITS[self.node.kind]} on {self.node.host.name}: {self.unit}", *last]

    @property
    def resolution(self) -> str:
        """What to do."""
        if self.cause:
            return self.cause[0].host_fix
        return f"read its log: kcluster logs -i INV {self.node.name} (on the host: {log_file(self.node)})"


def units(nodes: Iterable[Node], hosts: Connections) -> dict[str, UnitState]:
    """The unit of each node, all hosts asked at once; a host that does not answer is an error."""
    found: dict[str, UnitState] = {}
    for there, said in _ask(nodes, lambda nodes: f"{_show(map(unit_of, nodes))}\n", hosts):
        shown = {facts["Id"]: _unit(facts) for facts in _blocks(said)}
        found |= {node.name: shown[f"{unit_of(node)}.service"] for node in there}
    return found


def listening(nodes: Iterable[Node], hosts: Connections) -> set[str]:
    """The names of the nodes whose hosts listen at their port, whoever can reach it."""
    found: set[str] = set()
    for there, said in _ask(nodes, lambda _: "grep -hs ' 0A ' /proc/net/tcp /proc/net/tcp6\n", hosts):
        open_ports = {int(line["port"], 16) for line in _LISTENING.finditer(said)}
        found |= {node.name for node in there if port_of(node) in open_ports}
    return found


def marks(nodes: Sequence[Node], hosts: Connections) -> list[StartMark]:
    """Where the starts of these nodes will begin, for somebody else who starts them."""
    began = []
    for there, said in _ask(nodes, _marks, hosts):
        since, *sizes = map(int, said.split())
        began += [StartMark(node, since, size) for node, size in zip(there, sizes, strict=True)]
    return began


def _ask(
    nodes: Iterable[Node], question: Callable[[Sequence[Node]], str], hosts: Connections
) -> Iterator[tuple[list[Node], str]]:
    """The nodes of each host and what it says of them, all asked at once; a host that does not answer is an error."""
    by_host: dict[str, list[Node]] = {}
    for node in nodes:
        by_host.setdefault(node.host.name, []).append(node)
    scripts = {host: f"{_BEGIN}{question(there)}" for host, there in by_host.items()}
    for host, answer in hosts.run("sh -s", stdin=scripts, only=list(by_host), become=True).items():
        if isinstance(answer, KclusterError):
            raise answer
        yield by_host[host], _said(answer)


def _said(answer: CommandResult) -> str:
    return answer.stdout.partition(f"{_CUT}\n")[2]


def command(verb: str, nodes: Sequence[Node], hosts: Connections, *, within: float) -> list[StartMark]:
    """Start, stop or restart the units of nodes on different hosts at once; where each one's start begins."""
    scripts = {node.host.name: _order(verb, node) for node in nodes}
    answers = hosts.run("sh -s", stdin=scripts, only=list(scripts), become=True, within=within)
    began = []
    for node in nodes:
        answer = answers[node.host.name]
        if isinstance(answer, KclusterError):
            raise answer
        since, size = [*map(int, _said(answer).split()), 0, 0][:2]
        began.append(StartMark(node, since, size))
        if answer.code:
            raise _refused(verb, began[-1], answer, hosts)
    return began


def _refused(verb: str, began: StartMark, answer: CommandResult, hosts: Connections) -> ApplyError:
    """The error for an order that systemd did not carry out, with what the host tells about it."""
    node, found = began.node, diagnose(began, hosts)
    why = f": {found.text}" if found.text else ""
    return ApplyError(
        f"{node.name} on {node.host.name}: systemctl {verb} {unit_of(node)} ended with {answer.code}{why}",
        details="\n".join([*answer.stderr.strip().splitlines(), *found.lines]),
        resolution=found.resolution if found.cause else f"ssh {node.host.name} systemctl status {unit_of(node)}",
    )


def diagnose(began: StartMark, hosts: Connections) -> Diagnosis:
    """Everything the host tells about a start that did not succeed."""
    node = began.node
    answer = hosts.ask(node.host.name, "sh -s", stdin=_questions(began), become=True)
    shown, console, log, sockets = (part.strip("\n") for part in _said(answer).split(f"{_CUT}\n"))
    said = (*console.splitlines(), *log.splitlines())
    return Diagnosis(node, _unit(next(_blocks(shown))), said, tuple(_holders(node, sockets)))


def unit_of(node: Node) -> str:
    """The name of the node's unit."""
    return UNITS[node.kind]


def log_file(node: Node) -> str:
    """The node's main log file on its host."""
    return f"{node.places.log_dir}/{log_files.of(node.kind).files[0].file}"


def _show(names: Iterable[str]) -> str:
    return shlex.join(["systemctl", "show", "--property", ",".join(_ASKED), *names])


def _marks(nodes: Sequence[Node]) -> str:
    """The host's clock, and how long each node's log is."""
    sizes = [f"stat -c %s {shlex.quote(log_file(node))} 2>/dev/null || echo 0" for node in nodes]
    return "\n".join(["date +%s", *sizes, ""])


def _order(verb: str, node: Node) -> str:
    """A unit that failed too often is only started again when that is forgotten."""
    unit = unit_of(node)
    return f"systemctl reset-failed {unit} 2>/dev/null\n{_BEGIN}{_marks([node])}exec systemctl {verb} {unit}\n"


def _questions(began: StartMark) -> str:
    """A log that was rolled in between is smaller than it was, and is read from its beginning."""
    node = began.node
    return (
        f"{_BEGIN}{_show([unit_of(node)])}\n"
        f"echo '{_CUT}'\n"
        f"journalctl --unit {unit_of(node)} --since @{began.since} --output cat --quiet --no-pager --lines 200\n"
        f"echo '{_CUT}'\n"
        f"log={shlex.quote(log_file(node))}\n"
        f"from={began.log_size}\n"
        '[ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -ge "$from" ] || from=0\n'
        f'tail -c "+$((from + 1))" "$log" 2>/dev/null | tail -n {_LOOKED_THROUGH}\n'
        f"echo '{_CUT}'\n"
        "ss -Hltnp\n"
    )


def _blocks(shown: str) -> Iterator[dict[str, str]]:
    """What `systemctl show` says of each unit; an empty line lies between two."""
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


def _holders(node: Node, sockets: str) -> Iterator[str]:
    """Who listens on the node's ports, out of the lines of `ss`."""
    wanted = {str(port) for port in _ports(node)}
    for line in sockets.splitlines():
        fields = line.split()
        port = fields[3].rpartition(":")[2] if len(fields) > 3 else ""
        if port in wanted and (holder := _HOLDER.search(line)):
            yield f"{port} is held by {holder['program']}, pid {holder['pid']}"


def port_of(node: Node) -> int:
    """The port at which its host listens when the node serves."""
    if isinstance(node, Server):
        return node.client_port
    if isinstance(node, Broker):
        return node.internal.port
    assert isinstance(node, Controller | SparkDaemon)
    return node.port


def _ports(node: Node) -> tuple[int, ...]:
    if isinstance(node, Server):
        return node.client_port, node.peer_port, node.election_port
    if isinstance(node, Controller):
        return (node.port,)
    if isinstance(node, SparkDaemon):
        return node.port, node.web_port
    assert isinstance(node, Broker)
    return tuple(listener.port for listener in node.listeners)
