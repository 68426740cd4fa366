"""Proving who we are: key files, the agent, at last a password."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from shlex import quote

import paramiko
from paramiko.agent import AgentSSH
from paramiko.pkey import UnknownKeyType

from kcluster.clients.ssh.ssh_config import SshRoute
from kcluster.errors import UnreachableError


class Agent(AgentSSH):
    """The agent at a socket; where none answers, it is one without keys."""

    def __init__(self, path: str) -> None:
        super().__init__()
        if not path:
            return
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
            self._connect(connection)  # type: ignore[attr-defined]  # as paramiko.Agent does it
        except (OSError, paramiko.SSHException):
            connection.close()

    def close(self) -> None:
        """Hang up."""
        self._close()  # type: ignore[attr-defined]


_NO = (paramiko.AuthenticationException, paramiko.SSHException, EOFError)


def authenticate(transport: paramiko.Transport, way: SshRoute) -> None:
    """Log in with the first thing the host takes; the error names everything that was tried."""
    tried: list[str] = []
    with closing(Agent(way.agent)) as agent:
        for title, key in _offers(way, agent, tried):
            if _taken(transport, way, key):
                return
            tried.append(title)
            if not transport.is_active():
                break
    if way.password and transport.is_active():
        tried.append("the password")
        if _password_taken(transport, way):
            return
    raise _refused(way, tried)


def _taken(transport: paramiko.Transport, way: SshRoute, key: paramiko.PKey) -> bool:
    try:
        return not transport.auth_publickey(way.user, key)
    except _NO:
        return False


def _password_taken(transport: paramiko.Transport, way: SshRoute) -> bool:
    try:
        return not transport.auth_password(way.user, way.password)
    except _NO:
        return False


def _offers(way: SshRoute, agent: Agent, closed: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    """Keys in the order in which ssh offers them, each with its name for people."""
    held = list(_held(way, agent))
    files = _files(way, closed)
    if way.key_files_are_standard:  # nobody named a key, so the agent's come first
        yield from held
        yield from files
    else:
        yield from files
        yield from held


def _held(way: SshRoute, agent: Agent) -> Iterator[tuple[str, paramiko.PKey]]:
    allowed = {_public(path) for path in way.key_files}
    for key in agent.get_keys():
        if not way.only_key_files or key.asbytes() in allowed:
            yield f"the agent's {key.get_name()} {getattr(key, 'comment', '')}".rstrip(), key


def _public(path: str) -> bytes:
    """The public half that lies beside a key."""
    import base64

    try:
        return base64.b64decode(Path(f"{path}.pub").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return b""


def _files(way: SshRoute, closed: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    for path in way.key_files:
        key = _loaded(path)
        if isinstance(key, str):
            if not (way.key_files_are_standard and key == "it is not there"):
                closed.append(f"{path}: {key}")
        else:
            yield path, key


@cache
def _loaded(path: str) -> paramiko.PKey | str:
    """The key of a file, or why it is of no use."""
    try:
        return paramiko.PKey.from_path(path)
    except FileNotFoundError:
        return "it is not there"
    except OSError as problem:
        return str(problem.strerror)
    except (TypeError, paramiko.PasswordRequiredException):
        return f"it has a passphrase, and no agent holds it: ssh-add {quote(path)}"
    except (ValueError, paramiko.SSHException, UnknownKeyType):
        return "it is not a private key we can read"


def _refused(way: SshRoute, tried: list[str]) -> UnreachableError:
    key = next((f"-i {quote(path)} " for path in way.key_files if Path(path).is_file()), "")
    port = "" if way.port == 22 else f"-p {way.port} "
    return UnreachableError(
        f"{way.name}: {way.door} does not let {way.user} in",
        details="\n".join(["tried:", *(f"  {each}" for each in tried)]) if tried else "there is no key to try",
        resolution=f"name the right key and user in the inventory, or: ssh-copy-id {key}{port}{way.user}@{way.address}",
    )
