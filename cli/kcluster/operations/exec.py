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
from kcluster.results import Block, Progress, Result, counted
from kcluster.rollout.node_selection import select_nodes

_Event = tuple[str, OutputChunk | int | BaseException]
"""A line of one host, the exit code of its command, or the error in its place."""


@dataclass
class CommandOutcome:
    """How a command ended on one host."""

    host: str
    code: int | None = None
    """None until it has ended, and when the host cannot be reached."""
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    problem: KclusterError | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Ran(Result):
    """A command on hosts; it runs while the result is shown."""

    command: str
    logins: dict[str, Login]
    become: bool
    aside: Progress = field(repr=False)
    """Where lines of stderr go."""
    outcomes: dict[str, CommandOutcome] = field(default_factory=dict)

    def data(self) -> Any:
        """Each host with its exit code and output; blocks until all have ended."""
        for host, chunk in self._lines():
            outcome = self.outcomes[host]
            if chunk.error:
                outcome.stderr += chunk.text + "\n"
            else:
                outcome.stdout += chunk.text + "\n"
        return [
            {key: getattr(outcome, key) for key in ("host", "code", "stdout", "stderr", "error")}
            for outcome in self.outcomes.values()
        ]

    def view(self) -> Iterable[Block]:
        """Each line as it comes, with its host when there are several; failures last."""
        width = max(map(len, self.logins))
        for host, chunk in self._lines():
            text = f"{host:{width}} | {chunk.text}" if len(self.logins) > 1 else chunk.text
            if chunk.error:
                self.aside(text)
            else:
                yield text
        if failure := self._failure():
            raise failure

    @property
    def exit_code(self) -> ExitCode:
        """UNREACHABLE when a host was not reached, NO when the command failed on a host."""
        failure = self._failure()
        return failure.exit_code if failure else ExitCode.DONE

    def _lines(self) -> Iterator[tuple[str, OutputChunk]]:
        """The lines of all hosts as they come; fills in the outcomes."""
        self.outcomes.update({host: CommandOutcome(host) for host in self.logins})
        events: SimpleQueue[_Event] = SimpleQueue()
        with Connections(self.logins) as hosts:
            for host in self.logins:
                Thread(target=_run, args=(hosts, host, self.command, self.become, events), daemon=True).start()
            running = len(self.logins)
            while running:
                host, event = events.get()
                if isinstance(event, OutputChunk):
                    yield host, event
                else:
                    running -= 1
                    self._ended(self.outcomes[host], event)

    def _ended(self, outcome: CommandOutcome, end: int | BaseException) -> None:
        if isinstance(end, int):
            outcome.code = end
        elif isinstance(end, KclusterError):
            outcome.problem, outcome.error = end, end.message
        else:
            raise end

    def _failure(self) -> KclusterError | None:
        """The failures of all hosts as one error."""
        unreachable = {host: outcome.problem for host, outcome in self.outcomes.items() if outcome.problem}
        failed = [f"{each.host} (code {each.code})" for each in self.outcomes.values() if each.code]
        if len(unreachable) == 1 and not failed:
            return next(iter(unreachable.values()))
        if unreachable:
            return self._unreachable(unreachable, failed)
        return RefusedError(f"the command failed on {', '.join(failed)}") if failed else None

    def _unreachable(self, problems: Mapping[str, KclusterError], failed: Sequence[str]) -> KclusterError:
        """The error for several hosts that cannot be reached, a remedy that they share only once."""
        remedies = ways_out(problems)
        last = {remedy: host for host, remedy in remedies.items()}
        lines = [
            line
            for host, problem in problems.items()
            for line in (problem.message, _fingerprint(problem), _remedy(remedies[host], last, host))
        ]
        details = [*filter(None, lines), *(f"failed on {host}" for host in failed)]
        message = f"{len(problems)} of {counted(len(self.logins), 'host')} cannot be reached"
        return UnreachableError(message, details="\n".join(details))


def selected_hosts(cluster: Cluster, names: Sequence[str]) -> tuple[str, ...]:
    """The hosts of these names of hosts and nodes, all without names; UsageError for an unknown name."""
    hosts = {node.host.name for node in select_nodes(cluster, names)}
    return tuple(host.name for host in cluster.every_host if host.name in hosts)


def exec(  # named like its command, as every operation
    cluster: Cluster, logins: dict[str, Login], names: Sequence[str], command: str, progress: Progress, *, become: bool
) -> Ran:
    """A command for the hosts of these names, all at once; it runs when the result is shown."""
    return Ran(command, {name: logins[name] for name in selected_hosts(cluster, names)}, become, progress)


def _run(hosts: Connections, host: str, command: str, become: bool, events: SimpleQueue[_Event]) -> None:
    try:
        with hosts.start(host, command, become=become) as running:
            running.finish()
            for chunk in running.lines():
                events.put((host, chunk))
            events.put((host, running.code))
    except BaseException as problem:  # handed over to the thread that waits
        events.put((host, problem))


def _fingerprint(problem: KclusterError) -> str:
    """The fingerprint of an unknown host key; other details would be too long for many hosts."""
    return f"  {problem.details}" if isinstance(problem, UnknownKeyError) else ""


def _remedy(remedy: str, last: Mapping[str, str], host: str) -> str:
    return f"  try: {remedy}" if remedy and last[remedy] == host else ""
