"""What a cluster says about its health: every node asked once, all at the same time, nothing decided yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients import ports, wire, zookeeper
from kcluster.clients.kafka import Kafka
from kcluster.errors import KclusterError, UnreachableError
from kcluster.model.endpoints import address_of
from kcluster.model.ensemble import Ensemble
from kcluster.model.quorum import Quorum

if TYPE_CHECKING:
    from kcluster.clients.kafka.topics import TopicState
    from kcluster.clients.wire import NodeIdentity, QuorumState
    from kcluster.model.broker import Broker
    from kcluster.model.cluster import Cluster
    from kcluster.model.listener import Listener
    from kcluster.model.running import Running

T = TypeVar("T")

_AT_ONCE = 64
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


@dataclass(frozen=True)
class ClusterFacts:
    """All answers; where there is none, the error says why."""

    cluster: Cluster | None
    """As the inventory has it."""
    running: Running | None = None
    """As hosts say that it runs; None where none was asked."""
    nodes: Mapping[Endpoint, str] = field(default_factory=dict)
    """The address of each node, and why it does not answer; empty when it does."""
    advertised: Mapping[Endpoint, str] = field(default_factory=dict)
    """The same for each address that brokers advertise."""
    identities: Mapping[Endpoint, NodeIdentity | KclusterError] = field(default_factory=dict)
    controller_clusters: Mapping[Endpoint, str | KclusterError] = field(default_factory=dict)
    """The cluster id of each KRaft controller."""
    servers: Mapping[str, ServerState] = field(default_factory=dict)
    quorum: QuorumState | KclusterError | None = None
    registered: Mapping[int, str] | KclusterError = field(default_factory=dict)
    """Id and address of each broker in the cluster's metadata."""
    topics: tuple[TopicState, ...] | KclusterError = ()

    @property
    def living(self) -> set[str]:
        """The names of the nodes that answer."""
        return {endpoint.node for endpoint, reason in (*self.nodes.items(), *self.advertised.items()) if not reason}

    @property
    def zookeeper_lost(self) -> bool:
        """Whether ZooKeeper has no quorum: brokers serve on, and read or change no configuration."""
        return any(state.lost for state in self.servers.values()) and not any(
            state.mode for state in self.servers.values()
        )

    @property
    def silent(self) -> bool:
        """Whether nothing at all answers."""
        return isinstance(self.registered, KclusterError) and not self.living


def gather(kafka: Kafka, cluster: Cluster | None) -> ClusterFacts:
    """Ask everything at the same time; without a cluster what its metadata tells."""
    # A client of its own: an old one remembers addresses and faults of the time before.
    kafka = Kafka(cluster.bootstrap_for(_protocol(kafka)) if cluster else kafka.bootstrap, kafka.config)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        registered = pool.submit(_attempt, lambda: _registered(kafka))
        asked = _of_model(pool, kafka, cluster) if cluster else _of_metadata(pool, kafka, registered.result())
        topics = _attempt(lambda: _topics(kafka, asked))
        return replace(asked, registered=registered.result(), topics=topics)


def _of_metadata(pool: ThreadPoolExecutor, kafka: Kafka, registered: Mapping[int, str] | KclusterError) -> ClusterFacts:
    told = {} if isinstance(registered, KclusterError) else registered
    endpoints = [_door(f"broker-{broker}", address, _protocol(kafka)) for broker, address in told.items()]
    advertised = _each(pool, endpoints, lambda endpoint: _probe(endpoint, kafka))
    identities = _each(pool, _open(endpoints, kafka), lambda endpoint: _identity(endpoint, kafka))
    return ClusterFacts(cluster=None, advertised=dict(advertised), identities=dict(identities))


def _of_model(pool: ThreadPoolExecutor, kafka: Kafka, cluster: Cluster) -> ClusterFacts:
    brokers, controllers = [_own_endpoint(broker) for broker in cluster.brokers], _controllers(cluster)
    endpoints = [_advertised(broker, listener) for broker in cluster.brokers for listener in broker.listeners]
    servers = _each(pool, _servers(cluster), _server)
    nodes = _each(pool, [*controllers, *brokers], lambda endpoint: _probe(endpoint, kafka))
    advertised = _each(pool, endpoints, lambda endpoint: _probe(endpoint, kafka))
    identities = _each(pool, _one_per_node(_open(endpoints, kafka)), lambda endpoint: _identity(endpoint, kafka))
    clusters = _each(pool, controllers, _controller_cluster)
    quorum = pool.submit(_quorum, [*controllers, *brokers]) if controllers else None
    states = dict(servers)
    return ClusterFacts(
        cluster=cluster,
        nodes={**{server: state.silence for server, state in states.items()}, **dict(nodes)},
        advertised=dict(advertised),
        identities=dict(identities),
        controller_clusters=dict(clusters),
        servers={server.node: state for server, state in states.items()},
        quorum=quorum.result() if quorum else None,
    )


# Whom to ask.


def _door(node: str, address: str, protocol: str) -> Endpoint:
    host, _, port = address.rpartition(":")
    return Endpoint(node, host, int(port), protocol)


def _own_endpoint(broker: Broker) -> Endpoint:
    """Where the broker listens for the other brokers, before anything is translated on the way."""
    return Endpoint(broker.name, *address_of(broker), broker.internal.protocol)


def _advertised(broker: Broker, listener: Listener) -> Endpoint:
    host, port = listener.advertised_host, listener.advertised_port
    return Endpoint(broker.name, host, port, listener.protocol, listener.label)


def _controllers(cluster: Cluster) -> list[Endpoint]:
    found = cluster.metadata.controllers if isinstance(cluster.metadata, Quorum) else ()
    return [Endpoint(node.name, node.host.address, node.port, "PLAINTEXT") for node in found]


def _servers(cluster: Cluster) -> list[Endpoint]:
    found = cluster.metadata.servers if isinstance(cluster.metadata, Ensemble) else ()
    return [Endpoint(node.name, node.host.address, node.client_port, "PLAINTEXT") for node in found]


def _open(endpoints: Iterable[Endpoint], kafka: Kafka) -> list[Endpoint]:
    """The endpoints at which more can be asked: without SASL, and with TLS only as --client-config says."""
    speaks = {"PLAINTEXT", _protocol(kafka)} - {"SASL_PLAINTEXT", "SASL_SSL"}
    return [endpoint for endpoint in endpoints if endpoint.protocol in speaks]


def _one_per_node(endpoints: Iterable[Endpoint]) -> list[Endpoint]:
    return list({endpoint.node: endpoint for endpoint in endpoints}.values())


def _protocol(kafka: Kafka) -> str:
    return str(kafka.config.get("security.protocol", "PLAINTEXT")).upper()


# Asking.


def _each(
    pool: ThreadPoolExecutor, endpoints: Iterable[Endpoint], ask: Callable[[Endpoint], T]
) -> Iterator[tuple[Endpoint, T]]:
    """Begin to ask all of them now; the answers are waited for when they are looked at."""
    asked = list(endpoints)
    return zip(asked, pool.map(ask, asked), strict=True)


def _attempt(ask: Callable[[], T]) -> T | KclusterError:
    try:
        return ask()
    except KclusterError as problem:
        return problem


def _probe(endpoint: Endpoint, kafka: Kafka) -> str:
    """Why the endpoint does not answer; empty when it does."""
    blind = endpoint.protocol == "SASL_SSL" or (endpoint.protocol == "SSL" and _protocol(kafka) != "SSL")
    if blind:
        # Without certificates and credentials, an accepted connection is all one can see.
        return (
            ""
            if ports.answers(endpoint.host, endpoint.port, within=_CONNECTED_WITHIN)
            else f"{endpoint.address} does not answer"
        )
    settings = kafka.config if endpoint.protocol == "SSL" else None  # SASL comes after the question for versions
    answer = _attempt(lambda: wire.api_versions(endpoint.host, endpoint.port, settings))
    return answer.message if isinstance(answer, KclusterError) else ""


def _identity(endpoint: Endpoint, kafka: Kafka) -> NodeIdentity | KclusterError:
    settings = kafka.config if endpoint.protocol == "SSL" else None
    return _attempt(lambda: wire.identity(endpoint.host, endpoint.port, settings))


def _controller_cluster(endpoint: Endpoint) -> str | KclusterError:
    return _attempt(lambda: wire.cluster_id(endpoint.host, endpoint.port, controller=True))


def _quorum(endpoints: Iterable[Endpoint]) -> QuorumState | KclusterError:
    """The first answer: a controller that does not lead refuses, a broker asks the leader."""
    answer: QuorumState | KclusterError = UnreachableError("no controller answers")
    for endpoint in endpoints:
        answer = _attempt(lambda endpoint=endpoint: wire.quorum(endpoint.host, endpoint.port))  # type: ignore[misc]
        if not isinstance(answer, KclusterError):
            return answer
    return answer


def _server(endpoint: Endpoint) -> ServerState:
    told = _attempt(lambda: zookeeper.monitor(endpoint.host, endpoint.port))
    if isinstance(told, UnreachableError):
        return ServerState("", silence=told.message, problem=told.message)
    if isinstance(told, KclusterError):
        lost = isinstance(told, zookeeper.NoQuorumError)
        return ServerState(zookeeper.mode(endpoint.host, endpoint.port), problem=told.message, lost=lost)
    synced = told.get("zk_synced_followers")
    return ServerState(told.get("zk_server_state", ""), int(synced) if synced else None)


def _registered(kafka: Kafka) -> dict[int, str]:
    return {broker.id: f"{broker.host}:{broker.port}" for broker in kafka.metadata().brokers.values()}


def _topics(kafka: Kafka, asked: ClusterFacts) -> tuple[TopicState, ...]:
    """Every topic; one that lives is asked for their configuration, for a dead controller would be waited for."""
    from kcluster.clients.kafka.topics import topics, with_config

    found = tuple(topics(kafka).values())
    if asked.zookeeper_lost:
        return found
    broker = next((number for number in _registered(kafka) if f"broker-{number}" in asked.living), None)
    return tuple(with_config(kafka, found, broker=broker))
