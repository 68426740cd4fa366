"""ZooKeeper's four-letter commands."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from kcluster.clients.dialing import Dial, direct
from kcluster.errors import KclusterError, RefusedError, UnreachableError

NO_QUORUM = "no quorum"
"""The role of a server that answers and does not serve."""

_AT_ONCE = 16
_NOT_SERVING = "This ZooKeeper instance is not currently serving requests"
_NOT_ALLOWED = "is not in the whitelist"


class NoQuorumError(RefusedError):
    """A server answers and does not serve: it has no leader."""


def role(host: str, port: int, *, within: float = 4.0, dial: Dial = direct) -> str:
    """What the server is in its ensemble: leader, follower, standalone, ..., NO_QUORUM; empty without an answer."""
    try:
        told = re.search(r"^Mode: (\S+)", ask(host, port, "srvr", within=within, dial=dial), re.MULTILINE)
    except NoQuorumError:
        return NO_QUORUM
    except KclusterError:
        return ""
    return told[1] if told else ""


def mode(host: str, port: int, *, dial: Dial = direct) -> str:
    """The role of a server that serves; empty while it does not."""
    return role(host, port, dial=dial).replace(NO_QUORUM, "")


def monitor(host: str, port: int, *, within: float = 2.0, dial: Dial = direct) -> dict[str, str]:
    """What the server says about itself to `mntr`: zk_server_state, zk_synced_followers, ..."""
    lines = ask(host, port, "mntr", within=within, dial=dial).splitlines()
    return {key: value for key, _, value in (line.partition("\t") for line in lines)}


def monitors(
    addresses: Sequence[tuple[str, int]], *, within: float = 2.0, dial: Dial = direct
) -> list[Mapping[str, str] | KclusterError]:
    """The answers of several servers to `mntr`, asked at the same time; the reason where there is none."""

    def one(address: tuple[str, int]) -> Mapping[str, str] | KclusterError:
        try:
            return monitor(*address, within=within, dial=dial)
        except KclusterError as problem:
            return problem

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, addresses))


def ask(host: str, port: int, word: str, *, within: float = 1.0, dial: Dial = direct) -> str:
    """The answer to a four-letter command; raises UnreachableError without one and RefusedError when it is refused."""
    deadline = time.monotonic() + within
    try:
        with dial(host, port, within) as connection:
            connection.sendall(word.encode())
            answer = _received(connection, deadline)
    except OSError as problem:
        reason = "no answer in time" if isinstance(problem, TimeoutError) else problem.strerror or str(problem)
        raise UnreachableError(f"ZooKeeper at {host}:{port}: {reason}") from problem
    return _served(answer, f"ZooKeeper at {host}:{port}", word)


def _received(connection: socket.socket, deadline: float) -> str:
    """Everything until the server closes; a server that trickles cannot outlast the deadline."""
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(65536)
        if not part:
            return b"".join(parts).decode(errors="replace")
        parts.append(part)


def _served(answer: str, server: str, word: str) -> str:
    if _NOT_ALLOWED in answer:
        raise RefusedError(
            f"{server} does not allow the command {word}",
            resolution=f"add {word} to 4lw.commands.whitelist and restart it",
        )
    if _NOT_SERVING in answer:
        raise NoQuorumError(f"{server} runs but does not serve: the ensemble has no quorum")
    if not answer:
        raise UnreachableError(f"{server}: the connection was closed without an answer")
    return answer
