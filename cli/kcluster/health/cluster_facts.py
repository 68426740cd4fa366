"""What a cluster says about its health: every node asked once, all at the same time, nothing decided yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients.kafka import Kafka
from kcluster.errors import KclusterError
from kcluster.facts.metadata import BrokerEndpoint, Metadata
from kcluster.facts.reach import Reach
from kcluster.health.questions import Endpoint, Questions, ServerState, attempt
from kcluster.model.client import protocol_of
from kcluster.model.endpoints import address_of
from kcluster.model.ensemble import Ensemble, Server
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


def gather(kafka: Kafka, cluster: Cluster | None, reach: Reach | None = None) -> ClusterFacts:
    """Ask everything at the same time; without a cluster what its metadata tells."""
    protocol, reach = protocol_of(kafka.config), reach or Reach()
    # A client of its own: an old one remembers addresses and faults of the time before.
    kafka = Kafka(cluster.bootstrap_for(protocol) if cluster else kafka.bootstrap, kafka.config)
    ask = Questions(kafka.config, reach.connect)
    endpoints = [BrokerEndpoint.of(broker, kafka.config, reach) for broker in cluster.brokers] if cluster else []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        registered = pool.submit(attempt, lambda: _registered(kafka, endpoints))
        asked = _of_model(pool, ask, cluster) if cluster else _of_metadata(pool, ask, registered.result())
        told = registered.result()
        topics = told if isinstance(told, KclusterError) else attempt(lambda: _topics(kafka, endpoints, asked))
        return replace(asked, registered=told, topics=topics)


def _of_metadata(
    pool: ThreadPoolExecutor, ask: Questions, registered: Mapping[int, str] | KclusterError
) -> ClusterFacts:
    told = {} if isinstance(registered, KclusterError) else registered
    endpoints = [_endpoint(f"broker-{broker}", address, ask.protocol) for broker, address in told.items()]
    advertised = _each(pool, endpoints, ask.silence)
    identities = _each(pool, ask.open(endpoints), ask.identity)
    return ClusterFacts(cluster=None, advertised=dict(advertised), identities=dict(identities))


def _of_model(pool: ThreadPoolExecutor, ask: Questions, cluster: Cluster) -> ClusterFacts:
    brokers, controllers = [_own_endpoint(broker) for broker in cluster.brokers], _controllers(cluster)
    endpoints = [_advertised(broker, listener) for broker in cluster.brokers for listener in broker.listeners]
    servers = _each(pool, _servers(cluster), ask.server)
    leaving = _each(pool, _leaving(cluster), ask.server)
    nodes = _each(pool, [*controllers, *brokers], ask.silence)
    advertised = _each(pool, endpoints, ask.silence)
    identities = _each(pool, _one_per_node(ask.open(endpoints)), ask.identity)
    clusters = _each(pool, controllers, ask.controller_cluster)
    quorum = pool.submit(ask.quorum, controllers, brokers) if controllers else None
    states = dict(servers)
    return ClusterFacts(
        cluster=cluster,
        nodes={**{server: state.silence for server, state in states.items()}, **dict(nodes)},
        advertised=dict(advertised),
        identities=dict(identities),
        controller_clusters=dict(clusters),
        servers={server.node: state for server, state in (*states.items(), *leaving) if server in states or state.mode},
        quorum=quorum.result() if quorum else None,
    )


# Whom to ask.


def _endpoint(node: str, address: str, protocol: str) -> Endpoint:
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
    return _of_servers(cluster.metadata.servers if isinstance(cluster.metadata, Ensemble) else ())


def _leaving(cluster: Cluster) -> list[Endpoint]:
    """Those of which one may lead though the inventory has them no more; nothing is wrong when they are silent."""
    return _of_servers(cluster.metadata.leaving if isinstance(cluster.metadata, Ensemble) else ())


def _of_servers(servers: Iterable[Server]) -> list[Endpoint]:
    return [Endpoint(node.name, node.host.address, node.client_port, "PLAINTEXT") for node in servers]


def _one_per_node(endpoints: Iterable[Endpoint]) -> list[Endpoint]:
    return list({endpoint.node: endpoint for endpoint in endpoints}.values())


# Asking.


def _each(
    pool: ThreadPoolExecutor, endpoints: Iterable[Endpoint], ask: Callable[[Endpoint], T]
) -> Iterator[tuple[Endpoint, T]]:
    """Begin to ask all of them now; the answers are waited for when they are looked at."""
    asked = list(endpoints)
    return zip(asked, pool.map(ask, asked), strict=True)


def _registered(kafka: Kafka, endpoints: Sequence[BrokerEndpoint]) -> Mapping[int, str]:
    if endpoints and all(endpoint.from_host for endpoint in endpoints):
        return _first(endpoints)[1].brokers
    return {broker.id: f"{broker.host}:{broker.port}" for broker in kafka.metadata().brokers.values()}


def _topics(kafka: Kafka, endpoints: Sequence[BrokerEndpoint], asked: ClusterFacts) -> tuple[TopicState, ...]:
    """Every topic; one that lives is asked for their configuration, for a dead controller would be waited for."""
    from kcluster.clients.kafka.topics import topics, with_config

    if endpoints and all(endpoint.from_host for endpoint in endpoints):
        endpoint, told = _first(endpoints)
        least = {} if asked.zookeeper_lost else endpoint.min_isr(tuple(told.topics.values()))
        return tuple(replace(state, min_isr=least.get(name)) for name, state in told.topics.items())
    found = tuple(topics(kafka).values())
    if asked.zookeeper_lost:
        return found
    away = {endpoint.broker for endpoint in endpoints if endpoint.from_host}
    near = (number for number in _registered(kafka, ()) if number not in away)
    broker = next((number for number in near if f"broker-{number}" in asked.living), None)
    return tuple(with_config(kafka, found, broker=broker))


def _first(endpoints: Sequence[BrokerEndpoint]) -> tuple[BrokerEndpoint, Metadata]:
    """The first broker that answers, and what it knows."""
    problems = []
    for endpoint in endpoints:
        told = attempt(endpoint.metadata)
        if isinstance(told, Metadata):
            return endpoint, told
        problems.append(told)
    raise problems[0]
