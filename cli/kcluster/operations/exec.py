"""`exec`: one command on many hosts, its output as it comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import Any

from kcluster.clients.ssh import Connections, Login, OutputChunk, UnknownKeyError, ways_out
from kcluster.errors import ExitCode, KclusterError, RefusedError, UnreachableError
from kcluster.model.cluster import Cluster
from kcluster.results import Block, Progress, Result
from kcluster.rollout.node_selection import select_nodes

_Said = tuple[str, OutputChunk | int | BaseException]
"""What one host had to say: a line, the code at the end, or why there is none."""


@dataclass
class CommandOutcome:
    """What a command came to on one host."""

    host: str
    code: int | None = None
    """None as long as it has not ended, and when the host cannot be reached."""
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    problem: KclusterError | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Ran(Result):
    """A command on hosts; it runs while the result is looked at."""

    command: str
    logins: dict[str, Login]
    become: bool
    aside: Progress = field(repr=False)
    """Where lines of stderr go."""
    outcomes: dict[str, CommandOutcome] = field(default_factory=dict)

    def data(self) -> Any:
        """Each host with its code and its output, when all have ended."""
        for host, piece in self._lines():
            outcome = self.outcomes[host]
            if piece.error:
                outcome.stderr += piece.text + "\n"
            else:
                outcome.stdout += piece.text + "\n"
        return [
            {key: getattr(outcome, key) for key in ("host", "code", "stdout", "stderr", "error")}
            for outcome in self.outcomes.values()
        ]

    def view(self) -> Iterable[Block]:
        """Each line as it comes, with its host when there are several; failures last."""
        width = max(map(len, self.logins))
        for host, piece in self._lines():
            text = f"{host:{width}} | {piece.text}" if len(self.logins) > 1 else piece.text
            if piece.error:
                self.aside(text)
            else:
                yield text
        if failure := self._failure():
            raise failure

    @property
    def exit_code(self) -> ExitCode:
        """UNREACHABLE when a host was not reached, NO when the command failed somewhere."""
        failure = self._failure()
        return failure.exit_code if failure else ExitCode.DONE

    def _lines(self) -> Iterator[tuple[str, OutputChunk]]:
        """The lines of all hosts, mixed as they come; fills in the outcomes."""
        self.outcomes.update({host: CommandOutcome(host) for host in self.logins})
        said: SimpleQueue[_Said] = SimpleQueue()
        with Connections(self.logins) as hosts:
            for host in self.logins:
                Thread(target=_run, args=(hosts, host, self.command, self.become, said), daemon=True).start()
            left = len(self.logins)
            while left:
                host, what = said.get()
                if isinstance(what, OutputChunk):
                    yield host, what
                else:
                    left -= 1
                    self._ended(self.outcomes[host], what)

    def _ended(self, outcome: CommandOutcome, how: int | BaseException) -> None:
        if isinstance(how, int):
            outcome.code = how
        elif isinstance(how, KclusterError):
            outcome.problem, outcome.error = how, how.message
        else:
            raise how

    def _failure(self) -> KclusterError | None:
        """What went wrong, for all hosts in one."""
        away = {host: outcome.problem for host, outcome in self.outcomes.items() if outcome.problem}
        failed = [f"{each.host} (code {each.code})" for each in self.outcomes.values() if each.code]
        if len(away) == 1 and not failed:
            return next(iter(away.values()))
        if away:
            return self._away(away, failed)
        return RefusedError(f"the command failed on {', '.join(failed)}") if failed else None

    def _away(self, away: Mapping[str, KclusterError], failed: Sequence[str]) -> KclusterError:
        """Several hosts that cannot be reached: each with what it says, a way out that they share told once."""
        ways = ways_out(away)
        last = {way: host for host, way in ways.items()}
        told = [
            line
            for host, problem in away.items()
            for line in (problem.message, _shown(problem), _way(ways[host], last, host))
        ]
        details = [*filter(None, told), *(f"failed on {each}" for each in failed)]
        return UnreachableError(f"{len(away)} of {len(self.logins)} hosts cannot run it", details="\n".join(details))


def meant(cluster: Cluster, names: Sequence[str]) -> tuple[str, ...]:
    """The hosts meant by names of hosts and nodes; all of them when there is no name."""
    wanted = {node.host.name for node in select_nodes(cluster, names)}
    return tuple(host.name for host in cluster.every_host if host.name in wanted)


def exec(  # named after its word, like every operation
    cluster: Cluster, logins: dict[str, Login], names: Sequence[str], command: str, progress: Progress, *, become: bool
) -> Ran:
    """Run a command on the hosts that are meant, all at once."""
    return Ran(command, {name: logins[name] for name in meant(cluster, names)}, become, progress)


def _run(hosts: Connections, host: str, command: str, become: bool, said: SimpleQueue[_Said]) -> None:
    try:
        with hosts.start(host, command, become=become) as running:
            running.finish()
            for piece in running.lines():
                said.put((host, piece))
            said.put((host, running.code))
    except BaseException as problem:  # handed over to the thread that waits
        said.put((host, problem))


def _shown(problem: KclusterError) -> str:
    """The fingerprint of an unknown key; what others say besides would be too much of many hosts."""
    return f"  {problem.details}" if isinstance(problem, UnknownKeyError) else ""


def _way(way: str, last: Mapping[str, str], host: str) -> str:
    return f"  try: {way}" if way and last[way] == host else ""
