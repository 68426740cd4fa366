"""Runs on every host at once, fed to `python3 -`: the port matrix of `kcluster check`, with doors of its own.

The control node has no doors; it knocks with the same code.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from typing import Any

CONNECT_SECONDS = 1.5
GLANCE_SECONDS = 0.7
"""How often a door that waits looks whether its unit has been started meanwhile: a JVM takes longer to its port."""
RESTING = ("inactive", "failed")
"""The states in which a unit wants no port; in all others it has its ports, or is about to."""


def network(wanted: dict[str, Any]) -> dict[str, Any]:
    """Knock at every door of the others, and hold the own doors open until all of them have knocked."""
    begun = time.time()
    busy = those_wanting_ports({each["unit"] for each in wanted["open"]})
    ending = begun + wanted["patience"] + 1
    doors = [ProbeListener(each, ending, left_to_unit=each["unit"] in busy) for each in wanted["open"]]
    knocking = knocks(wanted)
    names = {name: resolved(name) for name in wanted["own_names"]}
    found = [[knock.host, knock.port, knock.outcome()] for knock in knocking]
    for door in doors:
        door.join()
    return {
        "begun": begun,
        "ended": time.time(),
        "own_names": names,
        "unopened": {str(door.port): door.problem for door in doors if door.problem},
        "starting": [door.port for door in doors if door.left_to_unit],
        "knocks": found,
    }


def knocks(wanted: dict[str, Any]) -> list[ProbeResult]:
    """Begin to knock wherever it is wanted."""
    now = time.time()
    return [ProbeResult(each, now if each in wanted["once"] else now + wanted["patience"]) for each in wanted["knock"]]


def those_wanting_ports(units: set[str]) -> set[str]:
    """Which units run, or are about to: then their ports are their own to open."""
    names = sorted(units)
    if not names:
        return set()
    command = ["systemctl", "show", "--value", "-p", "ActiveState", *names]
    try:
        told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    except OSError:
        return set()  # a host without systemd has no units
    states = zip(names, told.split())  # noqa: B905  # before Python 3.10 it cannot be strict
    return {name for name, state in states if state not in RESTING}


def resolved(name: str) -> list[str]:
    """The addresses of a name; none when it has none."""
    try:
        return sorted({str(found[4][0]) for found in socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)})
    except OSError:
        return []


class ProbeListener(threading.Thread):
    """A listener for a port that nobody listens on yet, and whose unit does not want it."""

    def __init__(self, wanted: dict[str, Any], ending: float, *, left_to_unit: bool) -> None:
        super().__init__()
        self.port, self.expected, self.problem = wanted["port"], wanted["expected"], ""
        self.ending = ending
        self.host, self.unit = wanted["host"], wanted["unit"]
        self.left_to_unit = left_to_unit
        self.start()

    def run(self) -> None:
        """Accept as many as are expected, or until the time is over, or until the unit wants the port."""
        if self.left_to_unit:
            return
        try:
            with self.opened() as listener:
                self.serve(listener)
        except OSError as problem:
            self.problem = os.strerror(problem.errno) if problem.errno else str(problem)

    def opened(self) -> socket.socket:
        """The listener; without an address it is on all of them, as Java's are, those of IPv6 too."""
        both = not self.host and socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both or ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self.port), family=family, backlog=64, dualstack_ipv6=both)

    def serve(self, listener: socket.socket) -> None:
        """Answer each caller by hanging up."""
        callers = 0
        while callers < self.expected and time.time() < self.ending:
            listener.settimeout(max(0.01, min(GLANCE_SECONDS, self.ending - time.time())))
            try:
                listener.accept()[0].close()
            except socket.timeout:  # noqa: UP041  # before Python 3.10 it is not TimeoutError
                self.left_to_unit = bool(those_wanting_ports({self.unit}))
                if self.left_to_unit:
                    return
                continue
            callers += 1


class ProbeResult(threading.Thread):
    """One try after the other to reach a door, until it opens, stays silent, or the time is over."""

    def __init__(self, wanted: tuple[str, int], ending: float) -> None:
        super().__init__(daemon=True)
        self.host, self.port = wanted
        self.problem, self.ending = "", ending
        self.start()

    def outcome(self) -> str:
        """Why the door did not open, when that is certain; empty when it did."""
        self.join()
        return self.problem

    def run(self) -> None:
        """A refusal is tried again: the other host may not have opened its door yet."""
        while True:
            self.problem = self.knock()
            if not self.problem.startswith("refused") or time.time() > self.ending:
                return
            time.sleep(0.03)

    def knock(self) -> str:
        """Why the door does not open; empty when it does."""
        try:
            socket.create_connection((self.host, self.port), CONNECT_SECONDS).close()
        except socket.gaierror as problem:
            return f"does not resolve: {problem.strerror}"
        except socket.timeout:  # noqa: UP041  # before Python 3.10 it is not TimeoutError
            return "timed out"
        except ConnectionRefusedError:
            return "refused"
        except OSError as problem:
            return problem.strerror or str(problem)
        return ""


def main(wanted: dict[str, Any]) -> None:
    """One line of JSON for `kcluster`."""
    print(json.dumps(network(wanted)))
