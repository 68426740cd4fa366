"""Proving who we are, with a real agent and an sshd that is a thread."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import paramiko
import pytest

from kcluster.clients.ssh.authentication import authenticate
from kcluster.clients.ssh.ssh_config import SshRoute
from kcluster.errors import UnreachableError
from tests.children import child


class Door(paramiko.ServerInterface):
    """Lets in whoever has one key."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return paramiko.AUTH_SUCCESSFUL if key.asbytes() == self.key else paramiko.AUTH_FAILED


@pytest.fixture
def key(tmp_path: Path) -> paramiko.PKey:
    path = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return paramiko.PKey.from_path(path)


@pytest.fixture
def agent(tmp_path: Path, key: paramiko.PKey) -> Iterator[str]:
    """The socket of an agent that holds the key, and not the one that the environment names."""
    place = tmp_path / "agent"
    with child(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL) as process:
        while not place.exists() and process.poll() is None:
            time.sleep(0.01)
        held = {"SSH_AUTH_SOCK": str(place), "PATH": "/usr/bin:/bin"}
        subprocess.run(["ssh-add", "-q", tmp_path / "id"], env=held, check=True, capture_output=True)
        yield str(place)
        process.terminate()


@pytest.fixture
def transport(key: paramiko.PKey) -> Iterator[paramiko.Transport]:
    """A connection to a server that wants the key, before the login."""
    ours, theirs = socket.socketpair()
    server = paramiko.Transport(theirs)
    server.add_server_key(paramiko.ECDSAKey.generate())
    server.start_server(threading.Event(), Door(key.asbytes()))
    with ours, theirs, closing(server), closing(paramiko.Transport(ours)) as client:
        client.start_client(timeout=30)
        yield client


def test_the_agent_at_another_socket_is_asked(
    transport: paramiko.Transport, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nonexistent")
    authenticate(transport, SshRoute("h1", "10.0.0.1", 22, "root", "10.0.0.1", agent=agent))
    assert transport.is_authenticated()


@pytest.mark.parametrize("where", ["", "/nonexistent"])
def test_without_an_agent_the_one_of_the_environment_is_not_asked(
    transport: paramiko.Transport, agent: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", agent)
    with pytest.raises(UnreachableError) as caught:
        authenticate(transport, SshRoute("h1", "10.0.0.1", 22, "root", "10.0.0.1", agent=where))
    assert caught.value.details == "no key to try"
