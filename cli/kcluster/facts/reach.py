"""How this machine reaches the processes of a cluster: directly, or from their own hosts where only SSH is open."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kcluster.clients.dialing import direct
from kcluster.errors import KclusterError
from kcluster.model.broker import Broker
from kcluster.model.endpoints import EVERYWHERE, address_of
from kcluster.model.ensemble import Server
from kcluster.model.quorum import Controller
from kcluster.model.running import ProcessState

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.clients.ssh.relay import Relays
    from kcluster.model.node import Node
    from kcluster.model.running import Running

Address = tuple[str, int]
_LOOPBACK = "127.0.0.1"


class _ObservedEndpoint(NamedTuple):
    """Where a process listens, as its own host sees it."""

    host: str
    """The host's name."""
    addresses: tuple[str, ...]
    port: int
    listens: bool


class Reach:
    """Connects to the processes of a cluster; of a host that lets only SSH through it remembers that for the run."""

    def __init__(self, hosts: Connections | None = None) -> None:
        self._known = hosts.names if hosts else ()
        self._relays = _relays(hosts) if hosts else None
        self._endpoints: dict[Address, _ObservedEndpoint] = {}
        self._failed: dict[Address, bool] = {}
        """The addresses that took no connection before it was known who listens there; whether it took its time."""
        self.closed: set[str] = set()
        """The names of the hosts whose processes only they themselves reach."""

    def learn(self, running: Running) -> None:
        """Remember where the processes listen whose hosts answered over SSH."""
        nodes = [node for node in running.cluster.nodes if node.host.name in self._known]
        seen = [(node, running.process(node)) for node in nodes if running.process(node) is not ProcessState.UNKNOWN]
        self._endpoints = {
            at: endpoint
            for node, state in seen
            for at, endpoint in _endpoints_of(node, listens=state is ProcessState.LISTENING)
        }

    def missed(self, host: str, port: int) -> bool:
        """Whether the address took no connection, and it turned out later that a process listens there."""
        endpoint = self._endpoints.get((host, port))
        return bool(endpoint and endpoint.listens and (host, port) in self._failed)

    @property
    def misses(self) -> bool:
        """Whether there is any such address."""
        return any(self.missed(*address) for address in tuple(self._failed))

    def through_host(self, host: str, port: int) -> bool:
        """Whether connections to the address are made from its own host."""
        endpoint = self._endpoints.get((host, port))
        return bool(endpoint and (endpoint.host in self.closed or self._failed.get((host, port))))

    def connect(self, host: str, port: int, within: float) -> socket.socket:
        """A connection; from the host of the process where this machine gets none."""
        address, endpoint = (host, port), self._endpoints.get((host, port))
        if not endpoint:
            try:
                return direct(host, port, within)
            except OSError as problem:
                self._failed[address] = not isinstance(problem, ConnectionRefusedError)
                raise
        if self.through_host(host, port):
            return self._from_host(address, endpoint, within)
        self._failed.pop(address, None)
        try:
            return direct(host, port, within / 2)
        except OSError as problem:
            if isinstance(problem, ConnectionRefusedError) and not endpoint.listens:
                raise
            return self._from_host(address, endpoint, within / 2)

    def _from_host(self, address: Address, endpoint: _ObservedEndpoint, within: float) -> socket.socket:
        assert self._relays
        try:
            connection = self._relays.connect(endpoint.host, endpoint.addresses, endpoint.port, within)
            self.closed.add(endpoint.host)
            return connection
        except KclusterError as problem:  # over SSH: others need not wait for that as well
            self._endpoints = {at: other for at, other in self._endpoints.items() if other.host != endpoint.host}
            raise OSError(problem.message) from problem
        finally:
            self._failed.pop(address, None)


def _relays(hosts: Connections) -> Relays:
    from kcluster.clients.ssh.relay import Relays  # lazily: local clusters need no SSH

    return Relays(hosts)


def _endpoints_of(node: Node, *, listens: bool) -> Iterator[tuple[Address, _ObservedEndpoint]]:
    for listener in node.listeners if isinstance(node, Broker) else ():
        bound = (listener.host,) if listener.host not in EVERYWHERE else (_LOOPBACK, node.host.address)
        endpoint = _ObservedEndpoint(node.host.name, bound, listener.port, listens)
        yield (listener.advertised_host, listener.advertised_port), endpoint
        yield (bound[-1], listener.port), endpoint
    if isinstance(node, Server | Controller):
        host, port = address_of(node)
        yield (host, port), _ObservedEndpoint(node.host.name, (_LOOPBACK, host), port, listens)
