"""Opens one connection: the socket, the greeting, the host's key, and the login."""

from __future__ import annotations

import logging
import socket
import subprocess
from collections.abc import Sequence
from typing import Any

import paramiko

from kcluster.clients.ssh import authentication, host_keys
from kcluster.clients.ssh.ssh_config import SshRoute
from kcluster.errors import UnreachableError

_KEX = ("curve25519-sha256@libssh.org", "ecdh-sha2-nistp256")
_CIPHERS = ("aes128-gcm@openssh.com", "aes128-ctr")
_KEEPALIVE_SECONDS = 15
_SILENCE_MILLISECONDS = 30_000
_BUSY = 3

# Paramiko logs what it raises as well; every reason reaches the user as an error of ours.
logging.getLogger("paramiko").addHandler(logging.NullHandler())


def open_connection(way: SshRoute, through: paramiko.Transport | None = None) -> paramiko.Transport:
    """A connection that is open and logged in; through another one when there is a jump host."""
    sock = _socket(way, through)
    try:
        transport = _greeted(way, sock)
    except BaseException:
        sock.close()
        raise
    try:
        authentication.authenticate(transport, way)
    except BaseException:
        transport.close()
        raise
    transport.set_keepalive(_KEEPALIVE_SECONDS)
    return transport


def _greeted(way: SshRoute, sock: Any) -> paramiko.Transport:
    known = host_keys.known(way)
    transport = paramiko.Transport(sock)
    transport.daemon = True
    patience = way.timeout * _BUSY  # somebody is there, and may be slow
    transport.banner_timeout = transport.handshake_timeout = patience
    _prefer(transport, known)
    try:
        transport.start_client(timeout=patience)
        key = transport.get_remote_server_key()
    except (paramiko.SSHException, EOFError, OSError) as problem:
        transport.close()
        raise UnreachableError(
            f"{way.name}: {way.door} takes connections but does not speak SSH within {patience:g} s",
            details="it said nothing" if "No existing session" in str(problem) else str(problem),
            resolution=f"is the host overloaded or frozen, or is port {way.port} not sshd's? ssh -v {way.address}",
        ) from problem
    try:
        host_keys.judge(way, key.get_name(), key.asbytes(), known)
    except UnreachableError:
        transport.close()
        raise
    return transport


def _prefer(transport: paramiko.Transport, known: tuple[host_keys.KnownHosts, ...]) -> None:
    """What is cheap first, and of host keys the kinds that are known: a host has several."""
    options = transport.get_security_options()
    options.kex = _first(_KEX, options.kex)
    options.ciphers = _first(_CIPHERS, options.ciphers)
    kinds = [kind for each in known for kind in _kinds(each.kind) if not each.revoked]
    options.key_types = _first(tuple(kinds), options.key_types)


def _kinds(kind: str) -> tuple[str, ...]:
    """The ways in which a key of a kind signs."""
    return ("rsa-sha2-512", "rsa-sha2-256") if kind == "ssh-rsa" else (kind,)


def _first(wanted: tuple[str, ...], all_there_are: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(all_there_are, key=lambda each: wanted.index(each) if each in wanted else len(wanted)))


def _socket(way: SshRoute, through: paramiko.Transport | None) -> Any:
    if through:
        return _channel(way, through)
    if way.proxy_command:
        return _proxied(way)
    try:
        sock = socket.create_connection((way.address, way.port), way.timeout)
    except OSError as problem:
        raise _unreachable(way, problem) from problem
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A host that lost its power says nothing: after this long the kernel gives the connection up.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE_MILLISECONDS)
    return sock


def _unreachable(way: SshRoute, problem: OSError) -> UnreachableError:
    if isinstance(problem, socket.gaierror):
        return UnreachableError(
            f"{way.name}: the name {way.address} is not known here",
            resolution=f"correct ansible_host of {way.name}, or make the name known: getent hosts {way.address}",
        )
    reason = f"no answer within {way.timeout:g} s" if isinstance(problem, TimeoutError) else problem.strerror
    return UnreachableError(
        f"{way.name}: {way.door} cannot be reached: {reason}",
        resolution=f"is the host up, and may this machine reach port {way.port}? ssh -v -p {way.port} {way.address}",
    )


def _channel(way: SshRoute, through: paramiko.Transport) -> paramiko.Channel:
    try:
        return through.open_channel("direct-tcpip", (way.address, way.port), ("127.0.0.1", 0), timeout=way.timeout)
    except (paramiko.SSHException, EOFError) as problem:
        jump = way.jump.name if way.jump else "the jump host"
        raise UnreachableError(
            f"{way.name}: {jump} cannot reach {way.door}",
            details=str(problem),
            resolution=f"is the host up, and does sshd of {jump} allow it (AllowTcpForwarding)?",
        ) from problem


def _proxied(way: SshRoute) -> socket.socket:
    """One end of a pair of sockets; a ProxyCommand has the other, and ends when ours is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = ["/bin/sh", "-c", f"exec {way.proxy_command}"]
        subprocess.Popen(
            command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL, start_new_session=True
        )
    ours.settimeout(way.timeout)
    return ours
