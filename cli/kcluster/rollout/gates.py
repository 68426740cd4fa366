"""Whether nodes may stop, and whether one is back: everybody who must agree is asked over the wire."""

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

PATIENCE = 600.0
"""Seconds a gate may stay closed; catching up after a restart takes minutes on full disks."""

_POLL = 0.25
_SAY_AGAIN = 5.0
_SAID = 3
"""How many reasons fit into a line."""
_AT_ONCE = 16
_CONNECTED_WITHIN = 2.0
_FETCHES_WITHIN = 2.0
"""Seconds in which a controller that follows surely asks its leader: it does so every half second."""


@dataclass(frozen=True)
class Gates:
    """The questions before and after each stop in one cluster. They are asked whatever the listeners demand."""

    cluster: Cluster
    config: Mapping[str, str] = field(default_factory=dict)
    """librdkafka properties, as --client-config gives them."""
    unsafe_too: bool = False
    """Whether the user accepts what no waiting makes safe."""
    patience: float = PATIENCE
    """Seconds a gate may stay closed."""
    hosts: Connections | None = None
    """Where is asked whether a node listens that this machine does not reach: others may."""

    def unsafe(self, leaving: Sequence[Node]) -> tuple[Reason, ...]:
        """Why no waiting makes it safe that these nodes stop together; nothing when it may become safe."""
        nodes = self._living(leaving)
        reasons = list(gate_rules.majority_lost(self.cluster.metadata, {node.name for node in nodes if _keeps(node)}))
        if brokers := {node.id for node in nodes if isinstance(node, Broker)}:
            views = _told(self._views(self.cluster.brokers).values())
            reasons += gate_rules.too_few_copies(brokers, views, self._least(views, brokers))
        return tuple(reasons)

    def before_stop(self, leaving: Sequence[Node]) -> tuple[Reason, ...]:
        """Why these nodes may not stop together now; nothing when they may."""
        nodes = self._living(leaving)
        reasons: list[Reason] = []
        if keepers := {node.name for node in nodes if _keeps(node)}:
            reasons += self._keepers_without(keepers)
        if brokers := {node.id for node in nodes if isinstance(node, Broker)}:
            reasons += [] if keepers else self._led()
            reasons += self._brokers_without(brokers)
        return tuple(reasons)

    def after_start(self, node: Node) -> tuple[Reason, ...]:
        """Why the node is not yet back as it was; nothing when the next one may stop."""
        return tuple(self._keepers_without(())) if _keeps(node) else self.serving([node])

    def serving(self, nodes: Sequence[Node]) -> tuple[Reason, ...]:
        """Why these nodes do not do their work yet, whatever the others do."""
        reasons: list[Reason] = []
        if brokers := [node.id for node in nodes if isinstance(node, Broker)]:
            views = self._views(self.cluster.brokers)
            for number in brokers:
                others = _told(view for other, view in views.items() if other != number)
                reasons += gate_rules.not_back(number, views[number], others)
        if servers := [node.name for node in nodes if isinstance(node, Server)]:
            told = self._servers()
            reasons += [reason for name in servers for reason in gate_rules.server_silent(name, told[name])]
        if controllers := [node for node in nodes if isinstance(node, Controller)]:
            silent = [node.name for node in controllers if not self.answers(node)]
            reasons += [Reason(f"{name} does not answer yet") for name in silent] or self._led()
        if daemons := [node for node in nodes if isinstance(node, SparkDaemon)]:
            reasons += self._spark_without(daemons)
        return tuple(reasons)

    def answers(self, node: Node) -> bool:
        """Whether this machine reaches the node's process."""
        return ports.answers(*self._door(node), within=_CONNECTED_WITHIN)

    def leader(self, kind: Kind) -> str:
        """The name of the node that leads the nodes of its kind, and stops last; empty when none does."""
        if kind is Kind.ZOOKEEPER:
            return next(iter(gate_rules.leaders(self._servers())), "")
        if kind is Kind.CONTROLLER:
            state = self._quorum()
            return "" if isinstance(state, KclusterError) else f"{kind}-{state.leader}"
        if kind is not Kind.BROKER:
            return spark_masters.leader(self.cluster.engine) if self.cluster.engine else ""
        if isinstance(self.cluster.metadata, Quorum):
            return ""
        views = _told(self._views(self.cluster.brokers).values())
        return next((f"{kind}-{view.controller}" for view in views if view.controller >= 0), "")

    def _living(self, nodes: Sequence[Node]) -> list[Node]:
        """Those that have something to lose."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            reached = list(pool.map(self.answers, nodes))
        silent = [node for node, there in zip(nodes, reached, strict=True) if not there]
        missed = self._missed(silent) if silent else set()
        return [node for node in nodes if node not in silent or node.name in missed]

    def _missed(self, silent: Sequence[Node]) -> set[str]:
        """Which of the nodes that this machine does not reach serve others all the same, or are counted on by them."""
        listening = diagnosis.listening(silent, self.hosts) if self.hosts else set()
        brokers = [node for node in silent if isinstance(node, Broker)]
        views = _told(self._views(self.cluster.brokers).values()) if brokers else []
        counted = {number for view in views for number in view.brokers}
        return listening | {node.name for node in brokers if node.id in counted}

    # The keepers of the metadata.

    def _keepers_without(self, leaving: Collection[str]) -> Sequence[Reason]:
        if isinstance(self.cluster.metadata, Ensemble):
            return list(gate_rules.ensemble_without(leaving, self._servers()))
        return self._quorum_without(leaving, self.cluster.metadata)

    def _quorum_without(self, leaving: Collection[str], quorum: Quorum) -> Sequence[Reason]:
        """Those that stay must ask the leader once more from now on: only so it is sure that they live."""
        names = {node.id: node.name for node in quorum.controllers}
        state = self._quorum()
        since = 0 if isinstance(state, KclusterError) else gate_rules.now_of(state)
        until = time.monotonic() + _FETCHES_WITHIN
        while True:
            reasons = list(gate_rules.quorum_without(leaving, names, state, since))
            if not reasons or isinstance(state, KclusterError) or time.monotonic() > until:
                return reasons
            time.sleep(_FETCHES_WITHIN / 20)
            state = self._quorum()

    def _led(self) -> list[Reason]:
        """Why the keepers would not let a broker come back."""
        if isinstance(self.cluster.metadata, Ensemble):
            servers = self._servers()
            alone = len(servers) == 1 and not list(gate_rules.ensemble_without(set(), servers))
            return [] if alone or gate_rules.leaders(servers) else [Reason("no ZooKeeper server leads")]
        state = self._quorum()
        if isinstance(state, KclusterError):
            return [Reason(state.message)]
        return [] if state.leader >= 0 else [Reason("no controller leads")]

    def _servers(self) -> dict[str, Mapping[str, str] | KclusterError]:
        servers = self.cluster.metadata.servers if isinstance(self.cluster.metadata, Ensemble) else ()
        told = zookeeper.monitors([(server.host.address, server.client_port) for server in servers])
        return {server.name: answer for server, answer in zip(servers, told, strict=True)}

    def _quorum(self) -> QuorumState | KclusterError:
        """The first answer; only the controller that leads gives one."""
        controllers = self.cluster.metadata.controllers if isinstance(self.cluster.metadata, Quorum) else ()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            said = list(pool.map(lambda node: _attempt(lambda: wire.quorum(node.host.address, node.port)), controllers))
        states = [answer for answer in said if not isinstance(answer, KclusterError)]
        return max(states, key=lambda state: state.epoch, default=UnreachableError("no controller leads the quorum"))

    # Spark.

    def _spark_without(self, daemons: Sequence[SparkDaemon]) -> Sequence[Reason]:
        """Why these do not serve; while ZooKeeper does not, no master can lead."""
        assert self.cluster.engine
        reasons = spark_masters.missing(self.cluster.engine, daemons)
        return (self._led() or reasons) if reasons and self.cluster.engine.keepers else reasons

    # The brokers.

    def _brokers_without(self, leaving: Collection[int]) -> Iterator[Reason]:
        views = self._views(self.cluster.brokers)
        told = _told(views.values())
        yield from gate_rules.brokers_missing(leaving, views)
        yield from gate_rules.copies_at_risk(leaving, told, self._least(told, leaving), unsafe_too=self.unsafe_too)

    def _views(self, brokers: Sequence[Broker]) -> dict[int, ClusterView | KclusterError]:
        """The cluster as each broker knows it, or why it says nothing; all asked at the same time."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            said = pool.map(lambda broker: _attempt(lambda: self._view(broker)), brokers)
            return {broker.id: answer for broker, answer in zip(brokers, said, strict=True)}

    def _view(self, broker: Broker) -> ClusterView:
        from kcluster.clients.kafka.topics import of_metadata

        if not self.answers(broker):  # refused at once, where a client goes on trying for half a second
            raise UnreachableError(f"no broker answers at {self._listener(broker).address}")
        # A client of its own knows no other address, so it is this broker that gives the first answer.
        found = Kafka(self._listener(broker).address, self.config).metadata()
        return ClusterView(broker.id, frozenset(found.brokers), found.controller_id, of_metadata(found))

    def _listener(self, broker: Broker) -> Listener:
        return broker.listener_for(protocol_of(self.config))

    def _door(self, node: Node) -> tuple[str, int]:
        """Where a node answers this machine."""
        if isinstance(node, Broker):
            listener = self._listener(node)
            return listener.advertised_host, listener.advertised_port
        return node.host.address, diagnosis.port_of(node)

    def _least(self, views: Sequence[ClusterView], leaving: Collection[int]) -> dict[str, int | None]:
        """min.insync.replicas of each topic that the leaving brokers hold; None where it may not be read."""
        from kcluster.clients.kafka.topics import with_config

        topics = gate_rules.held(views, leaving)
        if not topics:
            return {}
        asked = next(broker for broker in self.cluster.brokers if broker.id == views[0].broker)
        states = with_config(Kafka(self._listener(asked).address, self.config), topics, broker=asked.id)
        return {state.name: state.min_isr for state in states}


def wait(ask: Callable[[], Sequence[Reason]], progress: Progress, *, within: float, subject: str) -> tuple[Reason, ...]:
    """Ask until nothing is in the way or the time is over; what is still in the way. Every change is told."""
    began = time.monotonic()
    told, told_at = "", 0.0
    while reasons := _asked(ask):
        now = time.monotonic()
        if now - began >= within:
            return tuple(reasons)
        said = "; ".join([*map(str, reasons[:_SAID]), *([f"{len(reasons) - _SAID} more"] if reasons[_SAID:] else [])])
        if said != told and (now - told_at >= _SAY_AGAIN or _kinds(said) != _kinds(told)):
            progress(f"{subject}: waiting, {said}")
            told, told_at = said, now
        time.sleep(min(_POLL, max(0.0, within - (now - began))))
    return ()


def _asked(ask: Callable[[], Sequence[Reason]]) -> Sequence[Reason]:
    answer = _attempt(ask)
    return [Reason(answer.message)] if isinstance(answer, KclusterError) else answer


def _keeps(node: Node) -> bool:
    """Whether a node keeps the metadata."""
    return isinstance(node, Server | Controller)


def _kinds(said: str) -> list[str]:
    """What is said without the partitions, of which every moment tells others."""
    return [reason.partition(": ")[0] for reason in said.split("; ")]


def _told(answers: Iterable[ClusterView | KclusterError]) -> list[ClusterView]:
    return [answer for answer in answers if isinstance(answer, ClusterView)]


def _attempt(ask: Callable[[], T]) -> T | KclusterError:
    """The answer, or why there is none; a configuration that the client refuses is nobody's answer."""
    try:
        return ask()
    except (UnreachableError, RefusedError) as problem:
        return problem
