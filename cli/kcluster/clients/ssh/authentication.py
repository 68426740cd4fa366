"""Authentication at a host: key files, the agent, then a password."""

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
        """Close the connection to the agent."""
        self._close()  # type: ignore[attr-defined]


_NO = (paramiko.AuthenticationException, paramiko.SSHException, EOFError)


def authenticate(transport: paramiko.Transport, route: SshRoute) -> None:
    """Log in with the first key or password that the host accepts; UnreachableError with everything that was tried."""
    tried: list[str] = []
    with closing(Agent(route.agent)) as agent:
        for title, key in _offers(route, agent, tried):
            if _accepted(transport, route, key):
                return
            tried.append(title)
            if not transport.is_active():
                break
    if route.password and transport.is_active():
        tried.append("the password")
        if _password_accepted(transport, route):
            return
    raise _refused(route, tried)


def _accepted(transport: paramiko.Transport, route: SshRoute, key: paramiko.PKey) -> bool:
    try:
        return not transport.auth_publickey(route.user, key)
    except _NO:
        return False


def _password_accepted(transport: paramiko.Transport, route: SshRoute) -> bool:
    try:
        return not transport.auth_password(route.user, route.password)
    except _NO:
        return False


def _offers(route: SshRoute, agent: Agent, closed: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    """Keys in the order in which ssh offers them, each with its name for people."""
    held = list(_held(route, agent))
    files = _files(route, closed)
    if route.key_files_are_standard:  # no key was configured, so the agent's come first
        yield from held
        yield from files
    else:
        yield from files
        yield from held


def _held(route: SshRoute, agent: Agent) -> Iterator[tuple[str, paramiko.PKey]]:
    allowed = {_public(path) for path in route.key_files}
    for key in agent.get_keys():
        if not route.only_key_files or key.asbytes() in allowed:
            yield f"the agent's {key.get_name()} {getattr(key, 'comment', '')}".rstrip(), key


def _public(path: str) -> bytes:
    """The public key in the file beside a private key."""
    import base64

    try:
        return base64.b64decode(Path(f"{path}.pub").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return b""


def _files(route: SshRoute, closed: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    for path in route.key_files:
        key = _loaded(path)
        if isinstance(key, str):
            if not (route.key_files_are_standard and key == "no such file"):
                closed.append(f"{path}: {key}")
        else:
            yield path, key


@cache
def _loaded(path: str) -> paramiko.PKey | str:
    """The key of a file, or why it cannot be used."""
    try:
        return paramiko.PKey.from_path(path)
    except FileNotFoundError:
        return "no such file"
    except OSError as problem:
        return str(problem.strerror)
    except (TypeError, paramiko.PasswordRequiredException):
        return f"it has a passphrase, and no agent holds it: ssh-add {quote(path)}"
    except (ValueError, paramiko.SSHException, UnknownKeyType):
        return "not a readable private key"


def _refused(route: SshRoute, tried: list[str]) -> UnreachableError:
    key = next((f"-i {quote(path)} " for path in route.key_files if Path(path).is_file()), "")
    port = "" if route.port == 22 else f"-p {route.port} "
    copy = f"ssh-copy-id {key}{port}{route.user}@{route.address}"
    return UnreachableError(
        f"{route.name}: {route.endpoint} refuses to log in {route.user}",
        details="\n".join(["tried:", *(f"  {each}" for each in tried)]) if tried else "no key to try",
        resolution=f"set the right key and user in the inventory, or: {copy}",
    )
