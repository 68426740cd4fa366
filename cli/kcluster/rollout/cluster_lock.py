"""The lock of a cluster: one run at a time, on this machine and on every host; a second one gets its owner."""

from __future__ import annotations

import json
import shlex
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
"""Seconds without a heartbeat after which a host releases the lock: the control node or the network is down."""
HEARTBEATS = 6
"""Heartbeats in that time."""
ANSWER = 20.0
"""Seconds in which a host must grant or refuse the lock."""
RELEASE = 5.0
"""Seconds in which all hosts should have released the lock; one that has not does so after SILENCE."""
FOLDER = "/run/lock"
LOST = 75
"""The exit code of a script that found the lock of its run lost: EX_TEMPFAIL, which systemctl never gives."""

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
    """Lock a cluster on this machine, and on each of its hosts when there are connections; all of them or none.

    LockedError with the other run's owner when one is taken; never waits for another run. `without` names hosts that
    this run does not touch: they may be unreachable, but if they answer they are locked too.
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
    """The lock of a run on the hosts of a cluster, kept by a thread that sends heartbeats to each host."""

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
        self._file = lock_file(cluster.name)
        self._owner = json.dumps(asdict(owner))
        self._script = holder_script(self._file, owner, silence)
        self._interval = silence / HEARTBEATS
        self._holders: dict[str, _Holder] = {}
        self._released = threading.Event()

    def take(self) -> None:
        """Lock every host, the first one alone: of two runs that begin together one gets it, and with it all."""
        threading.Thread(target=self._send_heartbeats, name="lock", daemon=True).start()
        self._take(self._names[:1])
        self._take(self._names[1:])

    @property
    def lost(self) -> tuple[str, ...]:
        """Hosts whose lock is lost: their connection broke."""
        return tuple(name for name, holder in self._holders.items() if not holder.alive)

    @property
    def guard(self) -> str:
        """Lines of shell that end a script on a host with LOST unless this run holds the lock there."""
        if self._hosts is None:
            return ""
        return (
            f"lock={shlex.quote(self._file)}\n"
            f'if [ ! -f "$lock" ] || flock -n "$lock" true || ! grep -qsF {shlex.quote(self._owner)} "$lock"\n'
            f"then exit {LOST}\nfi\n"
        )

    def check(self) -> None:
        """Lock lost hosts again between two steps; LockedError when another run has taken one meanwhile."""
        self._take(self.lost)

    def take_again(self, name: str) -> None:
        """Lock a host again that does not know this lock any more; LockedError when another run has it."""
        self._holders[name].release()
        self._holders[name].wait(time.monotonic() + RELEASE)
        self._take([name])

    def release(self) -> None:
        """Release every host, and wait for it, so that the next run is not refused because of this one."""
        self._released.set()
        for holder in self._holders.values():
            holder.release()
        deadline = time.monotonic() + RELEASE
        for holder in self._holders.values():
            holder.wait(deadline)

    def _take(self, names: Sequence[str]) -> None:
        if self._hosts is None:
            return
        new = {name: _Holder(self._hosts, name, self._script) for name in names}
        self._holders = {**self._holders, **new}
        deadline = time.monotonic() + ANSWER
        answers = {name: self._problem(name, holder.answer(deadline)) for name, holder in new.items()}
        if problems := {name: problem for name, problem in answers.items() if problem}:
            raise _joined(problems)

    def _problem(self, name: str, answer: Mapping[str, Any] | KclusterError) -> KclusterError | None:
        """Why a host is not locked; None when it is."""
        if isinstance(answer, KclusterError):
            return None if name in self._without and isinstance(answer, UnreachableError) else answer
        if "owner" in answer:
            return locked_error(self._cluster, Owner.of(answer["owner"]), name)
        if "trouble" in answer:
            return ApplyError(
                f"{name}: cannot lock {self._cluster}: {answer['trouble']}; nothing was changed",
                resolution=f"check the folder and its files: ssh {name} ls -ld {FOLDER} {FOLDER}/kcluster-*",
            )
        return None

    def _send_heartbeats(self) -> None:
        while not self._released.wait(self._interval):
            for holder in self._holders.values():
                holder.send_heartbeat()


class _Holder:
    """The program that has the lock on one host, and the thread that waits for its end."""

    def __init__(self, hosts: Connections, name: str, script: str) -> None:
        self._hosts = hosts
        self._name = name
        self._script = script
        self._running: RemoteCommand | None = None
        self._cancelled = False
        self._answers: SimpleQueue[Mapping[str, Any] | BaseException] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"lock of {name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the program runs, as far as its connection shows."""
        return self._thread.is_alive()

    def answer(self, deadline: float) -> Mapping[str, Any] | KclusterError:
        """Its first answer, or why there is none by the deadline."""
        try:
            answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            return UnreachableError(
                f"{self._name}: no answer about its lock within {ANSWER:g} s",
                resolution=f"check the load of the host: kcluster exec -i INV {self._name} -- top -bn1",
            )
        if isinstance(answer, BaseException) and not isinstance(answer, KclusterError):
            raise answer
        return answer

    def send_heartbeat(self) -> None:
        """Show the program that this run is alive."""
        if self._running and self.alive:
            with suppress(KclusterError):  # a broken connection ends the thread, which `alive` shows
                self._running.write("\n")

    def release(self) -> None:
        """Ask the program to end; `wait` waits for it."""
        self._cancelled = True
        if self._running and self.alive:
            with suppress(KclusterError):
                self._running.finish()

    def wait(self, deadline: float) -> None:
        """Block until the program has ended, at most until the deadline."""
        self._thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        try:
            with self._hosts.start(self._name, host_scripts.LINE_COMMAND, become=True) as running:
                self._running = running
                if not self._cancelled:
                    self._answers.put(self._listen(running))
        except BaseException as problem:  # handed over to the thread that waits
            self._answers.put(problem)

    def _listen(self, running: RemoteCommand) -> KclusterError:
        """Queue each answer until the program ends; then why it ended, which counts when it never answered."""
        running.write(self._script)
        errors = []
        for chunk in running.lines():
            if chunk.error:
                errors.append(chunk.text)
            elif chunk.text.startswith("{"):  # a login may greet with lines before
                self._answers.put(json.loads(chunk.text))
        if running.code == _NO_PYTHON:
            install = f"ssh {self._name} sudo apt-get install -y python3-minimal"
            return RefusedError(f"{self._name} has no python3", resolution=install)
        return RefusedError(
            f"{self._name}: the lock program ended with code {running.code}",
            details="\n".join(errors),
            resolution=f"ssh {self._name} python3 --version; it has to be 3.8 or newer",
        )


def locked_error(cluster: str, owner: Owner, where: str) -> LockedError:
    """The error for a cluster that another run has locked; `where` is this machine or a host."""
    return LockedError(
        f"another kcluster run works on {cluster}: {owner.user}@{owner.machine} (pid {owner.pid})"
        f" since {_clock(owner.since)}: {owner.command}",
        details=f"its lock is on {where}",
        resolution=f"wait for it to end; the lock of a run that died expires within {SILENCE:g} s",
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


def lock_file(cluster: str) -> str:
    """The file that holds the lock of a cluster on each of its hosts."""
    return f"{FOLDER}/kcluster-{cluster}.lock"


def holder_script(file: str, owner: Owner, silence: float) -> str:
    """One line: the program for the hosts, and what it is asked for."""
    asked = {"file": file, "owner": asdict(owner), "silence": silence}
    return host_scripts.line("hold_lock", asked)


def _joined(problems: Mapping[str, KclusterError]) -> KclusterError:
    """The problems of all hosts as one error: a run that has the lock first, the others in its details."""
    errors = list(problems.values())
    first = next((problem for problem in errors if isinstance(problem, LockedError)), errors[0])
    others = [problem.message for problem in errors if problem is not first]
    details = "\n".join([*first.details.splitlines(), *dict.fromkeys(others)])
    from kcluster.clients.ssh import ways_out

    remedy = next(remedy for name, remedy in ways_out(problems).items() if problems[name] is first)
    return type(first)(first.message, details=details, resolution=remedy)


def _clock(since: str) -> str:
    """The time of day; with its day when that is not today."""
    try:
        began = datetime.fromisoformat(since).astimezone()
    except ValueError:
        return since
    today = began.date() == datetime.now().date()
    return began.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")
