"""The port matrix of `kcluster check`: runs on every host at once, with listeners on the ports that are still free.

The control node opens no listener; it connects with the same code.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import threading
import time
from typing import Any

from ansible_collections.kcluster.kafka.plugins.module_utils import ssh_session

NAME = "kcluster-check"
"""What the kernel calls the process that listens here, so that another check does not take it for a stranger."""
CONNECT_SECONDS = 1.5
GLANCE_SECONDS = 0.7
"""How often a listener that waits checks whether its unit was started: a JVM takes longer to open its port."""
RESTING = ("inactive", "failed")
"""The states in which a unit wants no port; in all others it has its ports, or is about to."""


def network(question: dict[str, Any]) -> dict[str, Any]:
    """Connect to every endpoint of the others, and keep the own listeners open until all others have connected."""
    begun = time.time()
    busy = starting_units({each["unit"] for each in question["open"]})
    ending = begun + question["patience"] + 1
    listeners = [ProbeListener(each, ending, left_to_unit=each["unit"] in busy) for each in question["open"]]
    connecting = attempts(question)
    names = {name: resolved(name) for name in question["own_names"]}
    outcomes = [[each.host, each.port, each.outcome()] for each in connecting]
    for listener in listeners:
        listener.join()
    return {
        "begun": begun,
        "ended": time.time(),
        "own_names": names,
        "unopened": {str(listener.port): listener.problem for listener in listeners if listener.problem},
        "starting": [listener.port for listener in listeners if listener.left_to_unit],
        "knocks": outcomes,
    }


def attempts(question: dict[str, Any]) -> list[ProbeResult]:
    """Begin to connect to every endpoint that is asked about."""
    now = time.time()
    once, patience = question["once"], question["patience"]
    return [ProbeResult(each, now if each in once else now + patience) for each in question["knock"]]


def starting_units(units: set[str]) -> set[str]:
    """The units that run, or are about to: they open their ports themselves."""
    names = sorted(units)
    if not names:
        return set()
    command = ["systemctl", "show", "--value", "-p", "ActiveState", *names]
    try:
        shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    except OSError:
        return set()  # a host without systemd has no units
    states = zip(names, shown.split())  # before Python 3.10 it cannot be strict
    return {name for name, state in states if state not in RESTING}


def resolved(name: str) -> list[str]:
    """The addresses of a name; none when it has none."""
    try:
        return sorted({str(found[4][0]) for found in socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)})
    except OSError:
        return []


class ProbeListener(threading.Thread):
    """A listener on a port that is free, and whose unit does not start."""

    def __init__(self, wanted: dict[str, Any], ending: float, *, left_to_unit: bool) -> None:
        super().__init__()
        self.port, self.expected, self.problem = wanted["port"], wanted["expected"], ""
        self.ending = ending
        self.host, self.unit = wanted["host"], wanted["unit"]
        self.left_to_unit = left_to_unit
        self.start()

    def run(self) -> None:
        """Accept as many as are expected, or until the time is over, or until the unit wants the port.

        A port in use is tried again: another check may hold it, and that ends.
        """
        busy = not self.left_to_unit
        while busy:
            self.problem, busy = self.attempt()
            time.sleep(0.03 if busy else 0)

    def attempt(self) -> tuple[str, bool]:
        """Listen; why that failed, and whether the port may become free in time."""
        try:
            with self.opened() as listener:
                self.serve(listener)
        except OSError as problem:
            busy = problem.errno == errno.EADDRINUSE and time.time() < self.ending
            return os.strerror(problem.errno) if problem.errno else str(problem), busy
        return "", False

    def opened(self) -> socket.socket:
        """The listener; without an address it is on all of them, as Java's are, those of IPv6 too."""
        both = not self.host and socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both or ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self.port), family=family, backlog=64, dualstack_ipv6=both)

    def serve(self, listener: socket.socket) -> None:
        """Close each connection as soon as it is accepted."""
        callers = 0
        while callers < self.expected and time.time() < self.ending:
            listener.settimeout(max(0.01, min(GLANCE_SECONDS, self.ending - time.time())))
            try:
                listener.accept()[0].close()
            except socket.timeout:  # before Python 3.10 it is not TimeoutError
                self.left_to_unit = bool(starting_units({self.unit}))
                if self.left_to_unit:
                    return
                continue
            callers += 1


class ProbeResult(threading.Thread):
    """One attempt after the other to connect, until one succeeds or times out, or the time is over."""

    def __init__(self, wanted: tuple[str, int], ending: float) -> None:
        super().__init__(daemon=True)
        self.host, self.port = wanted
        self.problem, self.ending = "", ending
        self.start()

    def outcome(self) -> str:
        """Why no connection was made, when that is certain; empty when one was."""
        self.join()
        return self.problem

    def run(self) -> None:
        """Connect; a refusal is tried again, because the other host may not listen yet."""
        while True:
            self.problem = self.connect()
            if not self.problem.startswith("refused") or time.time() > self.ending:
                return
            time.sleep(0.03)

    def connect(self) -> str:
        """Why the connection failed; empty when it did not."""
        try:
            socket.create_connection((self.host, self.port), CONNECT_SECONDS).close()
        except socket.gaierror as problem:
            return f"does not resolve: {problem.strerror}"
        except socket.timeout:  # before Python 3.10 it is not TimeoutError
            return "timed out"
        except ConnectionRefusedError:
            return "refused"
        except OSError as problem:
            return problem.strerror or str(problem)
        return ""


def main(question: dict[str, Any]) -> None:
    """One line of JSON for `kcluster`; the ports are free again when its connection is gone."""
    with open("/proc/self/comm", "w") as name:
        name.write(NAME)
    ssh_session.end_with_it()
    print(json.dumps(network(question)))
