"""Kept connections to many hosts, each opened when it is needed and only once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients.ssh.login import CommandResult, Login
from kcluster.clients.ssh.remote_command import RemoteCommand
from kcluster.clients.ssh.ssh_config import SshRoute, route_to
from kcluster.clients.ssh.sudo import ending, wrapped
from kcluster.errors import KclusterError, RefusedError, UnreachableError, UsageError

if TYPE_CHECKING:
    import paramiko

_END_SECONDS = 3.0
_FOREVER = float("inf")

N = TypeVar("N")
A = TypeVar("A")


class Connections:
    """The hosts of an inventory, by name."""

    def __init__(self, logins: Mapping[str, Login]) -> None:
        self._logins = dict(logins)
        self._routes: dict[str, SshRoute] = {}
        self._open: dict[SshRoute, paramiko.Transport] = {}
        self._locks: dict[SshRoute, threading.Lock] = {}
        self._guard = threading.Lock()
        self._running: set[RemoteCommand] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The hosts there are."""
        return tuple(self._logins)

    def run(
        self,
        command: str,
        *,
        stdin: str | Mapping[str, str] = "",
        only: Iterable[str] | None = None,
        become: bool = False,
        within: float = 60.0,
    ) -> dict[str, CommandResult | KclusterError]:
        """The result of a command on every host, or why there is none; all run at once, at most `within` seconds."""
        names = self.names if only is None else tuple(only)

        def one(name: str) -> CommandResult:
            text = stdin if isinstance(stdin, str) else stdin.get(name, "")
            return self.ask(name, command, stdin=text, become=become, within=within)

        return _at_once(one, names)

    def ask(
        self, name: str, command: str, *, stdin: str = "", become: bool = False, within: float = 60.0
    ) -> CommandResult:
        """The result of a command on one host, whatever its exit code; UnreachableError without a result in time."""
        with self.start(name, command, become=become, within=within) as running:
            running.finish(stdin)
            return running.answer()

    def lines(self, name: str, command: str, *, become: bool = False) -> Iterator[str]:
        """Each line of a command as it comes; close the iterator, and the command ends on its host."""
        with self.start(name, command, become=become) as running:
            running.finish()
            errors: list[str] = []
            for chunk in running.lines():
                if chunk.error:
                    errors.append(chunk.text)
                else:
                    yield chunk.text
            if running.code:
                raise RefusedError(f"{name}: {command} ended with code {running.code}", details="\n".join(errors))

    def start(self, name: str, command: str, *, become: bool = False, within: float = _FOREVER) -> RemoteCommand:
        """A command that runs on one host, for input and output while it runs; close it, and it ends."""
        login = self._login(name)
        transport = self._transport(self._route(login))
        running = self._started(login, transport, command, become, within)
        with self._guard:
            self._running = {*(each for each in self._running if not each.closed), running}
        try:
            running.begin()
        except BaseException:
            running.close()
            raise
        return running

    def close(self) -> None:
        """End what still runs, and all connections."""
        with self._guard:
            running, opened = self._running, list(self._open.values())
            self._running, self._open = set(), {}
        _at_once(lambda each: each.close(), running)
        for transport in reversed(opened):
            transport.close()

    def __enter__(self) -> Connections:
        """Nothing is opened before it is needed."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close everything."""
        self.close()

    def _login(self, name: str) -> Login:
        if name not in self._logins:
            raise UsageError(f"there is no host {name}", resolution=f"the hosts are {', '.join(self._logins)}")
        return self._logins[name]

    def _route(self, login: Login) -> SshRoute:
        if login.name not in self._routes:
            self._routes[login.name] = route_to(login)
        return self._routes[login.name]

    def _transport(self, route: SshRoute) -> paramiko.Transport:
        """The kept connection of a route; a jump host's serves all hosts behind it."""
        from kcluster.clients.ssh.opening import open_connection  # paramiko: 0.15 s

        with self._guard:
            lock = self._locks.setdefault(route, threading.Lock())
        with lock:
            kept = self._open.get(route)
            if kept and kept.is_active():
                return kept
            fresh = open_connection(route, self._transport(route.jump) if route.jump else None)
            with self._guard:
                self._open[route] = fresh
            return fresh

    def _started(
        self, login: Login, transport: paramiko.Transport, command: str, become: bool, within: float
    ) -> RemoteCommand:
        import paramiko

        line = wrapped(command, login, transport.get_username() or "", become=become)
        try:
            channel = transport.open_session(timeout=min(within, 10.0))
            channel.exec_command(line.line)
        except (paramiko.SSHException, EOFError, OSError) as problem:
            raise UnreachableError(
                f"{login.name}: the connection is open, but no command can be started",
                details=str(problem),
                resolution="run this again; when it stays so, look at sshd's log on the host",
            ) from problem

        return RemoteCommand(login.name, channel, line, partial(self._end, login, transport, become), within)

    def _end(self, login: Login, transport: paramiko.Transport, become: bool, group: int) -> None:
        """End a process group over its own connection, with the same rights."""
        with suppress(KclusterError):
            killer = self._started(login, transport, ending(group), become, _END_SECONDS)
            killer.begin()
            killer.finish()
            killer.answer()


def _at_once(action: Callable[[N], A], names: Iterable[N]) -> dict[N, A | KclusterError]:
    """Do something for each name in a thread of its own; the outcomes in the order of the names.

    The threads are daemons, unlike those of an executor: Ctrl-C ends the wait and never hangs at exit.
    """
    names = tuple(names)
    done: SimpleQueue[tuple[N, A | BaseException]] = SimpleQueue()

    def one(name: N) -> None:
        try:
            done.put((name, action(name)))
        except BaseException as problem:  # handed over to the thread that waits
            done.put((name, problem))

    for name in names:
        threading.Thread(target=one, args=(name,), daemon=True).start()
    found = dict(done.get() for _ in names)
    return {name: _expected(found[name]) for name in names}


def _expected(outcome: A | BaseException) -> A | KclusterError:
    if isinstance(outcome, BaseException) and not isinstance(outcome, KclusterError):
        raise outcome
    return outcome
