"""The gates of a roll: whether nodes may stop, and whether one is back, asked of the whole cluster over the wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients import ports, wire, zookeeper
from kcluster.clients.kafka import Kafka
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.facts import spark_masters
from kcluster.model.broker import Broker
from kcluster.model.client import protocol_of
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.reason import Reason
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.rollout import diagnosis, gate_rules
from kcluster.rollout.gate_rules import ClusterView

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.clients.wire import QuorumState
    from kcluster.model.cluster import Cluster
    from kcluster.model.listener import Listener
    from kcluster.results import Progress

T = TypeVar("T")

GATE_TIMEOUT = 600.0
"""Seconds a gate may stay closed; catching up after a restart takes minutes on full disks."""

_POLL_SECONDS = 0.25
_PROGRESS_SECONDS = 5.0
"""Until the same kind of reasons is shown again."""
_REASONS_PER_LINE = 3
_THREADS = 16
_CONNECT_TIMEOUT = 2.0
_FETCH_SECONDS = 2.0
"""Seconds in which a controller that follows surely fetches from its leader: it does so every half second."""


@dataclass(frozen=True)
class Gates:
    """The conditions before and after each stop in one cluster, checked on listeners of every security protocol."""

    cluster: Cluster
    config: Mapping[str, str] = field(default_factory=dict)
    """librdkafka properties, as --client-config gives them."""
    unsafe_partitions: bool = False
    """Whether the user accepts what no waiting makes safe."""
    timeout: float = GATE_TIMEOUT
    """Seconds a gate may stay closed."""
    hosts: Connections | None = None
    """Connections that tell whether a node listens which this machine cannot reach: other clients may reach it."""

    def unsafe(self, nodes: Sequence[Node]) -> tuple[Reason, ...]:
        """Why no waiting makes it safe that these nodes stop together; empty when it may become safe."""
        in_use = self._in_use(nodes)
        reasons = list(gate_rules.majority_lost(self.cluster.metadata, _metadata_nodes(in_use)))
        if brokers := {node.id for node in in_use if isinstance(node, Broker)}:
            views = _available(self._broker_views().values())
            reasons += gate_rules.too_few_replicas(brokers, views, self._min_isr(views, brokers))
        return tuple(reasons)

    def before_stop(self, nodes: Sequence[Node]) -> tuple[Reason, ...]:
        """Why these nodes may not stop together now; empty when they may."""
        in_use = self._in_use(nodes)
        reasons: list[Reason] = []
        if metadata_nodes := _metadata_nodes(in_use):
            reasons += self._metadata_quorum_without(metadata_nodes)
        if brokers := {node.id for node in in_use if isinstance(node, Broker)}:
            reasons += [] if metadata_nodes else self._no_metadata_leader()
            reasons += self._brokers_without(brokers)
        return tuple(reasons)

    def after_start(self, node: Node) -> tuple[Reason, ...]:
        """Why the node is not yet back as it was; empty when the next one may stop."""
        return tuple(self._metadata_quorum_without(())) if _metadata_nodes([node]) else self.serving([node])

    def serving(self, nodes: Sequence[Node]) -> tuple[Reason, ...]:
        """Why these nodes do not serve yet, whatever the state of the others; empty when they do."""
        reasons: list[Reason] = []
        if brokers := [node.id for node in nodes if isinstance(node, Broker)]:
            views = self._broker_views()
            for number in brokers:
                others = _available(view for other, view in views.items() if other != number)
                reasons += gate_rules.not_back(number, views[number], others)
        if servers := [node.name for node in nodes if isinstance(node, Server)]:
            monitors = self._zookeeper_monitors()
            reasons += [reason for name in servers for reason in gate_rules.server_down(name, monitors[name])]
        if controllers := [node for node in nodes if isinstance(node, Controller)]:
            down = [node.name for node in controllers if not self.answers(node)]
            reasons += [Reason(f"{name} does not answer yet") for name in down] or self._no_metadata_leader()
        if daemons := [node for node in nodes if isinstance(node, SparkDaemon)]:
            reasons += self._spark_not_serving(daemons)
        return tuple(reasons)

    def answers(self, node: Node) -> bool:
        """Whether this machine can connect to the node's process."""
        return ports.answers(*self._endpoint(node), within=_CONNECT_TIMEOUT)

    def leader(self, kind: Kind) -> str:
        """The name of the node that leads the nodes of its kind, and stops last; empty when none does."""
        if kind is Kind.ZOOKEEPER:
            return next(iter(gate_rules.leaders(self._zookeeper_monitors())), "")
        if kind is Kind.CONTROLLER:
            state = self._quorum_state()
            return "" if isinstance(state, KclusterError) else f"{kind}-{state.leader}"
        if kind is not Kind.BROKER:
            return spark_masters.leader(self.cluster.engine) if self.cluster.engine else ""
        if isinstance(self.cluster.metadata, Quorum):
            return ""
        views = _available(self._broker_views().values())
        return next((f"{kind}-{view.controller}" for view in views if view.controller >= 0), "")

    def _in_use(self, nodes: Sequence[Node]) -> list[Node]:
        """The nodes whose stop somebody would notice: those that answer, listen, or are registered."""
        with ThreadPoolExecutor(_THREADS) as pool:
            answered = list(pool.map(self.answers, nodes))
        unanswered = [node for node, answers in zip(nodes, answered, strict=True) if not answers]
        in_use = self._used_by_others(unanswered) if unanswered else set()
        return [node for node in nodes if node not in unanswered or node.name in in_use]

    def _used_by_others(self, nodes: Sequence[Node]) -> set[str]:
        """Which of these nodes that this machine cannot reach listen all the same, or are registered brokers."""
        listening = diagnosis.listening(nodes, self.hosts) if self.hosts else set()
        brokers = [node for node in nodes if isinstance(node, Broker)]
        views = _available(self._broker_views().values()) if brokers else []
        registered = {number for view in views for number in view.brokers}
        return listening | {node.name for node in brokers if node.id in registered}

    # The metadata quorum: ZooKeeper servers or controllers.

    def _metadata_quorum_without(self, stopping: Collection[str]) -> Sequence[Reason]:
        if isinstance(self.cluster.metadata, Ensemble):
            return list(gate_rules.ensemble_without(stopping, self._zookeeper_monitors()))
        return self._controllers_without(stopping, self.cluster.metadata)

    def _controllers_without(self, stopping: Collection[str], quorum: Quorum) -> Sequence[Reason]:
        """The remaining controllers must fetch from the leader once more from now on: only that shows they are alive.

        Blocks for the seconds in which they surely fetch.
        """
        names = {node.id: node.name for node in quorum.controllers}
        state = self._quorum_state()
        since = 0 if isinstance(state, KclusterError) else gate_rules.leader_time(state)
        until = time.monotonic() + _FETCH_SECONDS
        while True:
            reasons = list(gate_rules.quorum_without(stopping, names, state, since))
            if not reasons or isinstance(state, KclusterError) or time.monotonic() > until:
                return reasons
            time.sleep(_FETCH_SECONDS / 20)
            state = self._quorum_state()

    def _no_metadata_leader(self) -> list[Reason]:
        """Why a broker could not register: the metadata quorum has no leader."""
        if isinstance(self.cluster.metadata, Ensemble):
            monitors = self._zookeeper_monitors()
            standalone = len(monitors) == 1 and not list(gate_rules.ensemble_without(set(), monitors))
            return [] if standalone or gate_rules.leaders(monitors) else [Reason("no ZooKeeper server leads")]
        state = self._quorum_state()
        if isinstance(state, KclusterError):
            return [Reason(state.message)]
        return [] if state.leader >= 0 else [Reason("no controller leads")]

    def _zookeeper_monitors(self) -> dict[str, Mapping[str, str] | KclusterError]:
        """What `mntr` of each ZooKeeper server says, by its name, or why there is no answer."""
        servers = self.cluster.metadata.servers if isinstance(self.cluster.metadata, Ensemble) else ()
        monitors = zookeeper.monitors([(server.host.address, server.client_port) for server in servers])
        return {server.name: monitor for server, monitor in zip(servers, monitors, strict=True)}

    def _quorum_state(self) -> QuorumState | KclusterError:
        """The newest answer; only the controller that leads gives one."""
        controllers = self.cluster.metadata.controllers if isinstance(self.cluster.metadata, Quorum) else ()
        with ThreadPoolExecutor(_THREADS) as pool:
            answers = list(
                pool.map(lambda node: _attempt(lambda: wire.quorum(node.host.address, node.port)), controllers)
            )
        states = [answer for answer in answers if not isinstance(answer, KclusterError)]
        return max(states, key=lambda state: state.epoch, default=UnreachableError("no controller leads the quorum"))

    # Spark.

    def _spark_not_serving(self, daemons: Sequence[SparkDaemon]) -> Sequence[Reason]:
        """Why these do not serve; while ZooKeeper does not, no master can lead."""
        assert self.cluster.engine
        reasons = spark_masters.missing(self.cluster.engine, daemons)
        return (self._no_metadata_leader() or reasons) if reasons and self.cluster.engine.keepers else reasons

    # The brokers.

    def _brokers_without(self, stopping: Collection[int]) -> Iterator[Reason]:
        views = self._broker_views()
        available = _available(views.values())
        min_isr = self._min_isr(available, stopping)
        yield from gate_rules.brokers_missing(stopping, views)
        yield from gate_rules.isr_at_risk(stopping, available, min_isr, unsafe_partitions=self.unsafe_partitions)

    def _broker_views(self) -> dict[int, ClusterView | KclusterError]:
        """The cluster as each broker knows it, or why it does not answer; all are asked at the same time."""
        brokers = self.cluster.brokers
        with ThreadPoolExecutor(_THREADS) as pool:
            views = pool.map(lambda broker: _attempt(lambda: self._view(broker)), brokers)
            return {broker.id: view for broker, view in zip(brokers, views, strict=True)}

    def _view(self, broker: Broker) -> ClusterView:
        from kcluster.clients.kafka.topics import of_metadata

        if not self.answers(broker):  # refused at once, where a client goes on trying for half a second
            raise UnreachableError(f"no broker answers at {self._listener(broker).address}")
        # A client of its own knows no other address, so it is this broker that gives the first answer.
        metadata = Kafka(self._listener(broker).address, self.config).metadata()
        return ClusterView(broker.id, frozenset(metadata.brokers), metadata.controller_id, of_metadata(metadata))

    def _listener(self, broker: Broker) -> Listener:
        return broker.listener_for(protocol_of(self.config))

    def _endpoint(self, node: Node) -> tuple[str, int]:
        """The address and port at which this machine connects to a node."""
        if isinstance(node, Broker):
            listener = self._listener(node)
            return listener.advertised_host, listener.advertised_port
        return node.host.address, diagnosis.port_of(node)

    def _min_isr(self, views: Sequence[ClusterView], brokers: Collection[int]) -> dict[str, int | None]:
        """min.insync.replicas of each topic with a replica on these brokers; None where it may not be read."""
        from kcluster.clients.kafka.topics import with_config

        topics = gate_rules.topics_on(views, brokers)
        if not topics:
            return {}
        asked = next(broker for broker in self.cluster.brokers if broker.id == views[0].broker)
        states = with_config(Kafka(self._listener(asked).address, self.config), topics, broker=asked.id)
        return {state.name: state.min_isr for state in states}


def wait(ask: Callable[[], Sequence[Reason]], progress: Progress, *, within: float, subject: str) -> tuple[Reason, ...]:
    """Block until `ask` gives no reasons or the time is over; the reasons that are left. Shows each new kind of reason.

    An answer that is missing is a reason; other errors of `ask` are raised.
    """
    began = time.monotonic()
    shown, shown_at = "", 0.0
    while reasons := _reasons(ask):
        now = time.monotonic()
        if now - began >= within:
            return tuple(reasons)
        text = _summary(reasons)
        if text != shown and (now - shown_at >= _PROGRESS_SECONDS or _kinds(text) != _kinds(shown)):
            progress(f"{subject}: waiting, {text}")
            shown, shown_at = text, now
        time.sleep(min(_POLL_SECONDS, max(0.0, within - (now - began))))
    return ()


def _reasons(ask: Callable[[], Sequence[Reason]]) -> Sequence[Reason]:
    answer = _attempt(ask)
    return [Reason(answer.message)] if isinstance(answer, KclusterError) else answer


def _summary(reasons: Sequence[Reason]) -> str:
    more = len(reasons) - _REASONS_PER_LINE
    return "; ".join([*map(str, reasons[:_REASONS_PER_LINE]), *([f"{more} more"] if more > 0 else [])])


def _kinds(summary: str) -> list[str]:
    """The reasons without their partitions, which change all the time."""
    return [reason.partition(": ")[0] for reason in summary.split("; ")]


def _metadata_nodes(nodes: Iterable[Node]) -> set[str]:
    """The names of the ZooKeeper servers and controllers among these nodes."""
    return {node.name for node in nodes if isinstance(node, Server | Controller)}


def _available(views: Iterable[ClusterView | KclusterError]) -> list[ClusterView]:
    return [view for view in views if isinstance(view, ClusterView)]


def _attempt(ask: Callable[[], T]) -> T | KclusterError:
    """The answer, or why there is none; a client configuration that is refused is raised."""
    try:
        return ask()
    except (UnreachableError, RefusedError) as problem:
        return problem
