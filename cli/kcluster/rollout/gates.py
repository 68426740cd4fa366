"""The gates of a roll: whether nodes may stop, and whether one is back, asked of the whole cluster over the wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from kcluster.clients import ports, wire, zookeeper
from kcluster.clients.wire import QuorumState
from kcluster.errors import KclusterError, UnreachableError
from kcluster.facts import fetching, running, spark_masters
from kcluster.facts.metadata import BrokerEndpoint
from kcluster.facts.reach import Reach
from kcluster.model.broker import Broker
from kcluster.model.client import protocol_of
from kcluster.model.endpoints import port_of
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.reason import Reason
from kcluster.model.running import ProcessState, Running
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.rollout import gate_rules
from kcluster.rollout.gate_rules import ClusterView
from kcluster.rollout.order import Turn
from kcluster.rollout.snapshot import QuorumAnswers, SafeSet, Snapshot, available, broker_ids, distinct, metadata_nodes
from kcluster.rollout.starting import StartingError, StartWatch, starts
from kcluster.rollout.waiting import attempt

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.model.listener import Listener

T = TypeVar("T")
N = TypeVar("N", bound=Node)

GATE_TIMEOUT = 600.0
"""Seconds a gate may stay closed; catching up after a restart takes minutes on full disks."""

_THREADS = 16
_CONNECT_TIMEOUT = 2.0
_FETCH_SECONDS = 2.0
"""Seconds in which a controller that follows surely fetches from its leader: it does so every half second."""


@dataclass
class Gates:
    """The conditions before and after each stop in one cluster, checked on listeners of every security protocol.

    A node is asked at the endpoints that its process was started with, and is dead only when its unit has no process.
    """

    cluster: Cluster
    config: Mapping[str, str] = field(default_factory=dict)
    """librdkafka properties, as --client-config gives them."""
    unsafe_partitions: bool = False
    """Whether the user accepts what no waiting makes safe."""
    timeout: float = GATE_TIMEOUT
    """Seconds a gate may stay closed."""
    hosts: Connections | None = None
    """Connections that tell what runs; nodes on other hosts than these are taken as the inventory has them."""
    running: Running = field(init=False)
    """What was observed last."""

    def __post_init__(self) -> None:
        """Nothing is observed yet."""
        self.running = Running(self.cluster)
        self._reach = Reach(self.hosts)
        self._starting = StartWatch()

    def observe(self, nodes: Iterable[Node]) -> None:
        """Look at the processes of these nodes: on their hosts, else whether their address takes connections."""
        known = self.hosts.names if self.hosts else ()
        if self.hosts and (there := [node for node in nodes if node.host.name in known]):
            self.running = running.observed(self.running, there, self.hosts)
            self._reach.learn(self.running)
        if others := [node for node in nodes if node.host.name not in known]:
            with ThreadPoolExecutor(_THREADS) as pool:
                answered = dict(zip((node.name for node in others), pool.map(self._connects, others), strict=True))
            found = {name: ProcessState.LISTENING if yes else ProcessState.NONE for name, yes in answered.items()}
            self.running = self.running.observed(found, {})

    def unsafe(self, *stops: Sequence[Node]) -> tuple[Reason, ...]:
        """Why no waiting makes these stops safe, each of nodes that stop together; empty when they may become safe."""
        brokers = broker_ids(node for nodes in stops for node in nodes if not self.running.dead(node))
        quorum = self._quorum() if brokers else QuorumAnswers(self.cluster.metadata)
        views = self._broker_views() if brokers and not quorum.lost else {}
        min_isr = self._min_isr(distinct(available(views.values())), brokers)
        snapshot = Snapshot(self.running, quorum, views=views, min_isr=min_isr)
        return tuple(reason for nodes in stops for reason in snapshot.hopeless(nodes))

    def snapshot(self, nodes: Sequence[Node], candidates: Sequence[Node] = ()) -> Snapshot:
        """Everything that tells whether these nodes may stop together, and which of the candidates with them.

        Blocks for the seconds in which controllers surely fetch from their leader, where one is to stop.
        """
        self.observe([*nodes, *candidates])
        in_use = [node for node in (*nodes, *candidates) if not self.running.dead(node)]
        brokers, quorum = broker_ids(in_use), QuorumAnswers(self.cluster.metadata)
        if metadata_nodes(in_use):
            quorum = self._quorum_without(metadata_nodes(node for node in nodes if node in in_use))
        elif brokers:
            quorum = self._quorum()
        starting = {node.name: why for node in in_use for why in self._starting.reasons(self.running, [node])}
        if not brokers or quorum.lost:
            return Snapshot(self.running, quorum, self.unsafe_partitions, starting)
        views = self._broker_views()
        known = distinct(available(views.values()))
        fetches = gate_rules.fetches(broker_ids(node for node in nodes if node in in_use), known, brokers)
        started = list(map(self._started, self.cluster.brokers))
        silences = fetching.silences(fetches, started, self.hosts) if self.hosts else {}
        min_isr = self._min_isr(known, brokers)
        return Snapshot(self.running, quorum, self.unsafe_partitions, starting, views, min_isr, silences)

    def before_stop(self, nodes: Sequence[Node]) -> tuple[Reason, ...]:
        """Why these nodes may not stop together now; empty when they may."""
        return self.snapshot(nodes).reasons(nodes)

    def safe_set(self, turn: Turn[Node], most: int | None) -> SafeSet:
        """The nodes of this turn that may stop together now: the first, and at most `most` others."""
        return self.snapshot([turn.first], turn.others).safe_set(turn, most)

    def after_start(self, *nodes: Node) -> tuple[Reason, ...]:
        """Why these nodes of one kind are not yet back as they were; empty when the next ones may stop."""
        names = metadata_nodes(nodes)
        return tuple(self._quorum_without(()).complete(names)) if names else self.serving(nodes)

    def serving(self, nodes: Sequence[Node]) -> tuple[Reason, ...]:
        """Why these nodes do not serve yet, whatever the state of the others; empty when they do."""
        reasons: list[Reason] = []
        if brokers := [node.id for node in nodes if isinstance(node, Broker)]:
            views = self._broker_views()
            known = distinct(available(views.values()))
            reasons += [reason for number in brokers for reason in gate_rules.not_back(number, views[number], known)]
        if servers := [node.name for node in nodes if isinstance(node, Server)]:
            monitors = self._zookeeper_monitors()
            reasons += [reason for name in servers for reason in gate_rules.server_down(name, monitors[name])]
        if controllers := [node for node in nodes if isinstance(node, Controller)]:
            down = [node.name for node in controllers if not self._connects(node)]
            reasons += [Reason(f"{name} does not answer yet") for name in down] or self._quorum().leaderless
        if daemons := [node for node in nodes if isinstance(node, SparkDaemon)]:
            reasons += self._spark_not_serving(daemons)
        return tuple(reasons)

    def out_of_sync(self, without: Collection[str]) -> Sequence[Reason]:
        """Why the ZooKeeper servers or controllers but these are not complete and in sync; empty when they are."""
        return self._quorum_without(without).without(without)

    def dead(self, node: Node) -> bool:
        """Whether the node was last seen without a process."""
        return self.running.dead(node)

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
        views = available(self._broker_views().values())
        return next((f"{kind}-{view.controller}" for view in views if view.controller >= 0), "")

    # The metadata quorum: ZooKeeper servers or controllers.

    def _quorum(self) -> QuorumAnswers:
        metadata = self.cluster.metadata
        if isinstance(metadata, Ensemble):
            return QuorumAnswers(metadata, monitors=self._zookeeper_monitors())
        return QuorumAnswers(metadata, state=self._quorum_state())

    def _quorum_without(self, stopping: Collection[str]) -> QuorumAnswers:
        """The remaining controllers must fetch from the leader once more from now on: only that shows they are alive.

        Blocks for the seconds in which they surely fetch.
        """
        answers = self._quorum()
        if isinstance(answers.state, QuorumState):
            answers = replace(answers, since=gate_rules.leader_time(answers.state))
        until = time.monotonic() + _FETCH_SECONDS
        while isinstance(answers.state, QuorumState) and answers.without(stopping) and time.monotonic() <= until:
            time.sleep(_FETCH_SECONDS / 20)
            answers = replace(answers, state=self._quorum_state())
        return answers

    def _zookeeper_monitors(self) -> dict[str, Mapping[str, str] | KclusterError]:
        """What `mntr` of each ZooKeeper server says, by its name, or why there is no answer."""
        metadata = self.cluster.metadata
        servers, leaving = (metadata.servers, metadata.leaving) if isinstance(metadata, Ensemble) else ((), ())

        def ask(asked: Sequence[Node]) -> list[Mapping[str, str] | KclusterError]:
            return zookeeper.monitors([self._endpoint(server) for server in asked], dial=self._reach.connect)

        told = dict(zip((node.name for node in leaving), ask(leaving), strict=True)) if leaving else {}
        return self._answers(servers, ask) | {
            name: answer for name, answer in told.items() if not isinstance(answer, KclusterError)
        }

    def _quorum_state(self) -> QuorumState | KclusterError:
        """The newest answer; only the controller that leads gives one."""
        controllers = self.cluster.metadata.controllers if isinstance(self.cluster.metadata, Quorum) else ()
        answers = self._answers(controllers, _each(self._quorum_of))
        states = [answer for answer in answers.values() if not isinstance(answer, KclusterError)]
        return max(states, key=lambda state: state.epoch, default=UnreachableError("no controller leads the quorum"))

    def _quorum_of(self, node: Node) -> QuorumState:
        return wire.quorum(*self._endpoint(node), dial=self._reach.connect)

    # Spark.

    def _spark_not_serving(self, daemons: Sequence[SparkDaemon]) -> Sequence[Reason]:
        """Why these do not serve; while ZooKeeper does not, no master can lead."""
        assert self.cluster.engine
        reasons = spark_masters.missing(self.cluster.engine, daemons)
        return (self._quorum().leaderless or reasons) if reasons and self.cluster.engine.keepers else reasons

    # The brokers.

    def _broker_views(self) -> dict[int, ClusterView | KclusterError]:
        """The cluster as each broker knows it, or why it does not answer; all are asked at the same time."""
        views = self._answers(self.cluster.brokers, _each(self._view))
        return {broker.id: views[broker.name] for broker in self.cluster.brokers}

    def _view(self, broker: Broker) -> ClusterView:
        if not self._connects(broker):  # refused at once, where a client goes on trying for half a second
            raise UnreachableError(f"no broker answers at {self._listener(broker).address}")
        metadata = BrokerEndpoint.of(self._started(broker), self.config, self._reach).metadata()
        return ClusterView(broker.id, frozenset(metadata.brokers), metadata.controller, metadata.topics)

    # Where nodes are asked.

    def _answers(
        self, nodes: Sequence[N], ask: Callable[[Sequence[N]], list[T | KclusterError]]
    ) -> dict[str, T | KclusterError]:
        """The answer of each node by its name; one that has been started elsewhere meanwhile is asked there."""
        answers = dict(zip((node.name for node in nodes), ask(nodes), strict=True))
        if silent := [node for node in nodes if isinstance(answers[node.name], UnreachableError)]:
            before = {node.name: self._endpoint(node) for node in silent}
            self.observe(silent)
            moved = [node for node in silent if self._elsewhere(node, before[node.name])]
            answers |= zip((node.name for node in moved), ask(moved), strict=True) if moved else ()
            answers |= {node.name: StartingError(self.running, node) for node in silent if starts(self.running, node)}
        return answers

    def _elsewhere(self, node: Node, asked: tuple[str, int]) -> bool:
        """Whether a node that did not answer there has another address, or takes connections from its own host."""
        return self._endpoint(node) != asked or self._reach.missed(*asked)

    def _connects(self, node: Node) -> bool:
        """Whether this machine can connect to the node's process."""
        return ports.answers(*self._endpoint(node), within=_CONNECT_TIMEOUT, dial=self._reach.connect)

    def _started(self, broker: Broker) -> Broker:
        here = self.running.node(broker)
        assert isinstance(here, Broker)
        return here

    def _listener(self, broker: Broker) -> Listener:
        return self._started(broker).listener_for(protocol_of(self.config))

    def _endpoint(self, node: Node) -> tuple[str, int]:
        """The address and port at which this machine connects to a node."""
        if isinstance(node, Broker):
            listener = self._listener(node)
            return listener.advertised_host, listener.advertised_port
        return node.host.address, port_of(self.running.node(node))

    def _min_isr(self, views: Sequence[ClusterView], brokers: Collection[int]) -> dict[str, int | None]:
        """min.insync.replicas of each topic with a replica on these brokers; None where it may not be read."""
        topics = gate_rules.topics_on(views, brokers)
        if not topics:
            return {}
        asked = next(broker for broker in self.cluster.brokers if broker.id == views[0].broker)
        return BrokerEndpoint.of(self._started(asked), self.config, self._reach).min_isr(topics)


def _each(ask: Callable[[N], T]) -> Callable[[Sequence[N]], list[T | KclusterError]]:
    """A question to one node as a question to several at the same time."""

    def all_at_once(nodes: Sequence[N]) -> list[T | KclusterError]:
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(lambda node: attempt(lambda: ask(node)), nodes))

    return all_at_once
