"""The questions of `kcluster health` to one endpoint each; an answer that is missing is told with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients import ports, wire, zookeeper
from kcluster.errors import KclusterError, UnreachableError
from kcluster.model.client import protocol_of

if TYPE_CHECKING:
    from kcluster.clients.dialing import Dial
    from kcluster.clients.wire import NodeIdentity, QuorumState

T = TypeVar("T")

_AT_ONCE = 16
_CONNECTED_WITHIN = 4.0


@dataclass(frozen=True)
class Endpoint:
    """An address at which a node must answer."""

    node: str
    host: str
    port: int
    protocol: str
    listener: str = ""

    @property
    def address(self) -> str:
        """Where it is."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class ServerState:
    """What one ZooKeeper server says."""

    mode: str
    """leader, follower, standalone, ...; empty when it does not serve."""
    synced: int | None = None
    """How many followers are in sync; only the leader knows."""
    problem: str = ""
    """Why it does not serve, or does not say how many are in sync."""
    silence: str = ""
    """Why it does not even answer."""
    lost: bool = False
    """Whether it runs and does not serve: its ensemble has no quorum."""


def attempt(ask: Callable[[], T]) -> T | KclusterError:
    """The answer, or why there is none."""
    try:
        return ask()
    except KclusterError as problem:
        return problem


@dataclass(frozen=True)
class Questions:
    """Asks endpoints as a client with these librdkafka properties."""

    config: Mapping[str, str]
    dial: Dial

    @cached_property
    def protocol(self) -> str:
        """The security protocol that the client speaks."""
        return protocol_of(self.config)

    def open(self, endpoints: Iterable[Endpoint]) -> list[Endpoint]:
        """Those at which more can be asked: without SASL, and with TLS only as --client-config says."""
        speaks = {"PLAINTEXT", self.protocol} - {"SASL_PLAINTEXT", "SASL_SSL"}
        return [endpoint for endpoint in endpoints if endpoint.protocol in speaks]

    def silence(self, endpoint: Endpoint) -> str:
        """Why the endpoint does not answer; empty when it does."""
        host, port = endpoint.host, endpoint.port
        if endpoint.protocol == "SASL_SSL" or (endpoint.protocol == "SSL" and self.protocol != "SSL"):
            # Without certificates and credentials, an accepted connection is all one can see.
            accepted = ports.answers(host, port, within=_CONNECTED_WITHIN, dial=self.dial)
            return "" if accepted else f"{endpoint.address} does not answer"
        # SASL comes after the question for versions.
        answer = attempt(lambda: wire.api_versions(host, port, self._settings(endpoint), dial=self.dial))
        return answer.message if isinstance(answer, KclusterError) else ""

    def identity(self, endpoint: Endpoint) -> NodeIdentity | KclusterError:
        """The cluster as a broker sees it."""
        settings = self._settings(endpoint)
        return attempt(lambda: wire.identity(endpoint.host, endpoint.port, settings, dial=self.dial))

    def controller_cluster(self, endpoint: Endpoint) -> str | KclusterError:
        """The id of the cluster that a KRaft controller belongs to."""
        return attempt(lambda: wire.cluster_id(endpoint.host, endpoint.port, controller=True, dial=self.dial))

    def quorum(self, controllers: Sequence[Endpoint], brokers: Sequence[Endpoint]) -> QuorumState | KclusterError:
        """The first answer: a controller that does not lead refuses, a broker asks the leader.

        All of a kind are asked at once: of those that are not there each would be waited for.
        """
        answer: QuorumState | KclusterError = UnreachableError("no controller answers")
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for endpoints in (controllers, brokers):
                for answer in pool.map(self._quorum, endpoints):
                    if not isinstance(answer, KclusterError):
                        return answer
        return answer

    def _quorum(self, endpoint: Endpoint) -> QuorumState | KclusterError:
        return attempt(lambda: wire.quorum(endpoint.host, endpoint.port, dial=self.dial))

    def server(self, endpoint: Endpoint) -> ServerState:
        """What a ZooKeeper server says of itself."""
        told = attempt(lambda: zookeeper.monitor(endpoint.host, endpoint.port, dial=self.dial))
        if isinstance(told, UnreachableError):
            return ServerState("", silence=told.message, problem=told.message)
        if isinstance(told, KclusterError):
            lost = isinstance(told, zookeeper.NoQuorumError)
            mode = zookeeper.mode(endpoint.host, endpoint.port, dial=self.dial)
            return ServerState(mode, problem=told.message, lost=lost)
        synced = told.get("zk_synced_followers")
        return ServerState(told.get("zk_server_state", ""), int(synced) if synced else None)

    def _settings(self, endpoint: Endpoint) -> Mapping[str, str] | None:
        return self.config if endpoint.protocol == "SSL" else None
