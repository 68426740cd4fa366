"""Prints how long ago the broker of this host received something from each of the others.

A follower asks its leaders again as soon as they have answered, and they answer within replica.fetch.wait.max.ms even
when there is nothing new. So the kernel knows at once who is cut off; the ISR lists it for up to 30 s longer.
`kcluster.facts.fetching` sends it.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from typing import Any

from ansible_collections.kcluster.kafka.plugins.module_utils.systemd import SHOW, services, states

_RECEIVED = re.compile(r"\blastrcv:(\d+)")


def main(question: dict[str, Any]) -> None:
    """Print the milliseconds by the name of each peer that the unit's process is connected to."""
    shown = _output([*SHOW, "Id,MainPID", *services([question["unit"]])])
    pid = states(shown).get(question["unit"], {}).get("MainPID", "0")
    sockets = received(_output(["ss", "-tniHp", "state", "established"]), pid)
    heard = {}
    for name, places in question["peers"].items():
        times = [ms for host, port in places if (ms := latest(sockets, host, port)) is not None]
        heard.update({name: min(times)} if times else {})
    print(json.dumps(heard))


def received(shown: str, pid: str) -> dict[str, int]:
    """The shortest time since each address was heard of on a connection of this process: a line, and one of details."""
    found: dict[str, int] = {}
    peer = ""
    for line in shown.splitlines():
        if not line.startswith((" ", "\t")):
            peer = line.split()[3] if f",pid={pid}," in line else ""
        ms = _RECEIVED.search(line)
        if peer and (ms or "cwnd:" in line):  # ss leaves out a time of 0 ms
            since = int(ms[1]) if ms else 0
            found[peer] = min(since, found.get(peer, since))
    return found


def latest(sockets: dict[str, int], host: str, port: int) -> int | None:
    """The shortest time of all addresses that a name has on this host; None without a connection."""
    try:
        places = {str(place[4][0]) for place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except OSError:
        return None
    names = [f"{form}:{port}" for place in places for form in (place, f"[{place}]", f"[::ffff:{place}]")]
    return min((sockets[name] for name in names if name in sockets), default=None)


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()
    except OSError:
        return ""
