"""The lock of a cluster: one run at a time, here and on every host of it, and the second is told who the first is."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kcluster import file_lock, paths
from kcluster.clients import host_scripts
from kcluster.errors import ApplyError, KclusterError, LockedError, RefusedError, UnreachableError
from kcluster.journal import NOTHING_CHANGED, Owner

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections, RemoteCommand
    from kcluster.model.cluster import Cluster

SILENCE = 30.0
"""Seconds after which a host lets go when it hears nothing of the run: its machine is gone, or the way to it."""
BEATS = 6
"""How often a run is heard in that time."""
ANSWER = 20.0
"""Seconds in which a host must say whether it is ours."""
LETTING_GO = 5.0
"""Seconds in which all hosts should have let go; one that has not does so by itself."""
FOLDER = "/run/lock"

_COMMAND = "python3 -IS -c 'exec(input())'"
_NO_PYTHON = 127


@contextmanager
def locked(
    cluster: Cluster,
    hosts: Connections | None,
    words: Sequence[str],
    *,
    silence: float = SILENCE,
    without: Collection[str] = (),
) -> Iterator[Lock]:
    """Hold a cluster: here, and on each of its hosts when there are connections; all of it or nothing.

    `without` names hosts that this run does not touch: they may be out of reach, but if they answer they are held too.
    """
    owner = Owner.here(words)
    with _locked_here(cluster.name, owner):
        lock = Lock(cluster, hosts, owner, silence, without)
        try:
            lock.take()
            yield lock
        finally:
            lock.release()


class Lock:
    """What a run holds on the hosts of a cluster, kept by a thread that lets each host hear of the run."""

    def __init__(
        self,
        cluster: Cluster,
        hosts: Connections | None,
        owner: Owner,
        silence: float = SILENCE,
        without: Collection[str] = (),
    ) -> None:
        self._cluster = cluster.name
        self._hosts = hosts
        self._without = frozenset(without)
        self._names = sorted((host.name for host in cluster.hosts), key=lambda name: name in self._without)
        self._script = _script(cluster.name, owner, silence)
        self._pause = silence / BEATS
        self._holders: dict[str, _Holder] = {}
        self._over = threading.Event()

    def take(self) -> None:
        """Take every host, the first one alone: of two runs that begin together one gets it, and with it all."""
        threading.Thread(target=self._beat, name="lock", daemon=True).start()
        self._take(self._names[:1])
        self._take(self._names[1:])

    @property
    def lost(self) -> tuple[str, ...]:
        """Hosts that are not held any more: their connection broke."""
        return tuple(name for name, holder in self._holders.items() if not holder.alive)

    def check(self) -> None:
        """Make sure between two steps that the cluster is still ours; a host that was lost is taken again."""
        self._take(self.lost)

    def release(self) -> None:
        """Let go of every host, and see it happen, so that the next run is not refused because of this one."""
        self._over.set()
        for holder in self._holders.values():
            holder.let_go()
        deadline = time.monotonic() + LETTING_GO
        for holder in self._holders.values():
            holder.wait(deadline)

    def _take(self, names: Sequence[str]) -> None:
        if self._hosts is None:
            return
        fresh = {name: _Holder(self._hosts, name, self._script) for name in names}
        self._holders = {**self._holders, **fresh}
        deadline = time.monotonic() + ANSWER
        found = {name: self._problem(name, holder.answer(deadline)) for name, holder in fresh.items()}
        if problems := {name: problem for name, problem in found.items() if problem}:
            raise _worst(problems)

    def _problem(self, name: str, answer: Mapping[str, Any] | KclusterError) -> KclusterError | None:
        """Why a host is not ours."""
        if isinstance(answer, KclusterError):
            return None if name in self._without and isinstance(answer, UnreachableError) else answer
        if "owner" in answer:
            return locked_error(self._cluster, Owner.of(answer["owner"]), name)
        if "trouble" in answer:
            return ApplyError(
                f"{name}: the lock of {self._cluster} cannot be taken: {answer['trouble']}; nothing was changed",
                resolution=f"look there: ls -ld {FOLDER} {FOLDER}/kcluster-*",
            )
        return None

    def _beat(self) -> None:
        while not self._over.wait(self._pause):
            for holder in self._holders.values():
                holder.beat()


class _Holder:
    """The program on one host that has the lock, and the thread that hears it end."""

    def __init__(self, hosts: Connections, name: str, script: str) -> None:
        self._hosts = hosts
        self._name = name
        self._script = script
        self._running: RemoteCommand | None = None
        self._unwanted = False
        self._said: SimpleQueue[Mapping[str, Any] | BaseException] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"lock of {name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as is known here."""
        return self._thread.is_alive()

    def answer(self, deadline: float) -> Mapping[str, Any] | KclusterError:
        """What it says first."""
        try:
            said = self._said.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            return UnreachableError(
                f"{self._name}: does not say within {ANSWER:g} s whether another run holds it",
                resolution=f"look what the host is busy with: kcluster exec -i INV {self._name} -- top -bn1",
            )
        if isinstance(said, BaseException) and not isinstance(said, KclusterError):
            raise said
        return said

    def beat(self) -> None:
        """Let it hear of us."""
        if self._running and self.alive:
            with suppress(KclusterError):  # a broken connection ends the thread, and that is looked at
                self._running.write("\n")

    def let_go(self) -> None:
        """Ask it to end; `wait` sees whether it did."""
        self._unwanted = True
        if self._running and self.alive:
            with suppress(KclusterError):
                self._running.finish()

    def wait(self, deadline: float) -> None:
        """Wait until it has ended."""
        self._thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        try:
            with self._hosts.start(self._name, _COMMAND, become=True) as running:
                self._running = running
                if not self._unwanted:
                    self._said.put(self._listen(running))
        except BaseException as problem:  # handed over to the thread that waits
            self._said.put(problem)

    def _listen(self, running: RemoteCommand) -> KclusterError:
        """Hand over each answer until there are no more; then why it ended, which counts when it never answered."""
        running.write(self._script)
        errors = []
        for piece in running.lines():
            if piece.error:
                errors.append(piece.text)
            elif piece.text.startswith("{"):  # a login may greet with lines before
                self._said.put(json.loads(piece.text))
        if running.code == _NO_PYTHON:
            way_out = f"ssh {self._name} sudo apt-get install -y python3-minimal"
            return RefusedError(f"{self._name} has no python3", resolution=way_out)
        return RefusedError(
            f"{self._name}: the program that holds the lock ended with {running.code}",
            details="\n".join(errors),
            resolution=f"ssh {self._name} python3 --version; it has to be 3.8 or newer",
        )


def locked_error(cluster: str, owner: Owner, where: str) -> LockedError:
    """The error that names who works on a cluster."""
    return LockedError(
        f"another kcluster run works on {cluster}: {owner.user}@{owner.machine} (pid {owner.pid})"
        f" since {_clock(owner.since)}: {owner.command}",
        details=f"it holds {where}",
        resolution=f"wait for it to end; a run that died lets go within {SILENCE:g} s",
    )


@contextmanager
def _locked_here(cluster: str, owner: Owner) -> Iterator[None]:
    """Lock the cluster on this machine, or LockedError with the run that has the lock."""

    def refused(text: str) -> LockedError:
        return locked_error(cluster, _recorded_owner(text), "this machine")

    file = paths.home() / "clusters" / cluster / "lock"
    with file_lock.locked(file, json.dumps(asdict(owner)), refused, consequence=NOTHING_CHANGED):
        yield


def _recorded_owner(text: str) -> Owner:
    try:
        return Owner.of(json.loads(text))
    except ValueError:  # it has the lock and has not written its owner yet
        return Owner.of({})


def _script(cluster: str, owner: Owner, silence: float) -> str:
    """One line: the program for the hosts, and what it is asked for."""
    asked = {"file": f"{FOLDER}/kcluster-{cluster}.lock", "owner": asdict(owner), "silence": silence}
    return f"exec({host_scripts.program('hold_lock', asked)!a})\n"


def _worst(problems: Mapping[str, KclusterError]) -> KclusterError:
    """The one to tell: first of all who works on the cluster; the others in its details."""
    every = list(problems.values())
    first = next((problem for problem in every if isinstance(problem, LockedError)), every[0])
    others = [problem.message for problem in every if problem is not first]
    details = "\n".join([*first.details.splitlines(), *dict.fromkeys(others)])
    from kcluster.clients.ssh import ways_out

    way = next(way for name, way in ways_out(problems).items() if problems[name] is first)
    return type(first)(first.message, details=details, resolution=way)


def _clock(since: str) -> str:
    """The time of day; with its day when that is not today."""
    try:
        began = datetime.fromisoformat(since).astimezone()
    except ValueError:
        return since
    today = began.date() == datetime.now().date()
    return began.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")
