"""Opens one connection: the socket, the SSH handshake, the host key, and the login."""

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


def open_connection(route: SshRoute, through: paramiko.Transport | None = None) -> paramiko.Transport:
    """A logged-in connection, through that of the jump host if there is one; UnreachableError when there is none."""
    sock = _socket(route, through)
    try:
        transport = _handshake(route, sock)
    except BaseException:
        sock.close()
        raise
    try:
        authentication.authenticate(transport, route)
    except BaseException:
        transport.close()
        raise
    transport.set_keepalive(_KEEPALIVE_SECONDS)
    return transport


def _handshake(route: SshRoute, sock: Any) -> paramiko.Transport:
    known = host_keys.known(route)
    transport = paramiko.Transport(sock)
    transport.daemon = True
    timeout = route.timeout * _BUSY  # the host is up, and may be slow
    transport.banner_timeout = transport.handshake_timeout = timeout
    _prefer(transport, known)
    try:
        transport.start_client(timeout=timeout)
        key = transport.get_remote_server_key()
    except (paramiko.SSHException, EOFError, OSError) as problem:
        transport.close()
        raise UnreachableError(
            f"{route.name}: {route.endpoint} accepts connections but has no SSH handshake within {timeout:g} s",
            details="no data received" if "No existing session" in str(problem) else str(problem),
            resolution=f"is the host overloaded or frozen, or is port {route.port} not sshd's? ssh -v {route.address}",
        ) from problem
    try:
        host_keys.judge(route, key.get_name(), key.asbytes(), known)
    except UnreachableError:
        transport.close()
        raise
    return transport


def _prefer(transport: paramiko.Transport, known: tuple[host_keys.KnownHosts, ...]) -> None:
    """Fast algorithms first, and of host keys the kinds that are known: a host has several."""
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


def _socket(route: SshRoute, through: paramiko.Transport | None) -> Any:
    if through:
        return _channel(route, through)
    if route.proxy_command:
        return _proxied(route)
    try:
        sock = socket.create_connection((route.address, route.port), route.timeout)
    except OSError as problem:
        raise _unreachable(route, problem) from problem
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A host without power sends nothing: after this time the kernel closes the connection.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE_MILLISECONDS)
    return sock


def _unreachable(route: SshRoute, problem: OSError) -> UnreachableError:
    if isinstance(problem, socket.gaierror):
        return UnreachableError(
            f"{route.name}: the name {route.address} cannot be resolved",
            resolution=f"correct ansible_host of {route.name}, or add the name to DNS: getent hosts {route.address}",
        )
    reason = f"no answer within {route.timeout:g} s" if isinstance(problem, TimeoutError) else problem.strerror
    return UnreachableError(
        f"{route.name}: {route.endpoint} cannot be reached: {reason}",
        resolution=f"is the host up, and is port {route.port} open? ssh -v -p {route.port} {route.address}",
    )


def _channel(route: SshRoute, through: paramiko.Transport) -> paramiko.Channel:
    try:
        return through.open_channel(
            "direct-tcpip", (route.address, route.port), ("127.0.0.1", 0), timeout=route.timeout
        )
    except (paramiko.SSHException, EOFError) as problem:
        jump = route.jump.name if route.jump else "the jump host"
        raise UnreachableError(
            f"{route.name}: {jump} cannot reach {route.endpoint}",
            details=str(problem),
            resolution=f"is the host up, and does sshd of {jump} allow it (AllowTcpForwarding)?",
        ) from problem


def _proxied(route: SshRoute) -> socket.socket:
    """One end of a pair of sockets; a ProxyCommand has the other, and ends when ours is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = ["/bin/sh", "-c", f"exec {route.proxy_command}"]
        subprocess.Popen(
            command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL, start_new_session=True
        )
    ours.settimeout(route.timeout)
    return ours
