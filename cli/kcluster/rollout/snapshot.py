"""A cluster at one moment, as far as it decides what may stop: asked once, judged for any set of its nodes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError
from kcluster.model.broker import Broker
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.node import Node
from kcluster.model.quorum import Controller
from kcluster.model.reason import Reason
from kcluster.rollout import gate_rules
from kcluster.rollout.gate_rules import ClusterView
from kcluster.rollout.safe_sets import SpareReplicas

if TYPE_CHECKING:
    from kcluster.clients.wire import QuorumState
    from kcluster.model.quorum import Quorum
    from kcluster.model.running import Running
    from kcluster.rollout.order import Turn


@dataclass(frozen=True)
class QuorumAnswers:
    """What the metadata quorum answered: each ZooKeeper server, or the controller that leads."""

    metadata: Ensemble | Quorum
    monitors: Mapping[str, Mapping[str, str] | KclusterError] = field(default_factory=dict)
    """What `mntr` of each ZooKeeper server says, by its name, or why there is no answer."""
    state: QuorumState | KclusterError | None = None
    since: int = 0
    """Since when the other controllers must have fetched from the leader, by its clock."""

    def without(self, stopping: Collection[str]) -> list[Reason]:
        """Why these servers or controllers may not stop; for none, why not all others are in sync."""
        if isinstance(self.metadata, Ensemble):
            if self.metadata.too_few == 1 and stopping:
                return []  # the new server serves only after the restart of the first
            return list(gate_rules.ensemble_without(stopping, self.monitors))
        names = {node.id: node.name for node in self.metadata.controllers}
        assert self.state is not None
        return list(gate_rules.quorum_without(stopping, names, self.state, self.since))

    def complete(self, back: Collection[str]) -> list[Reason]:
        """Why not all are in sync after these came back; of two that get a third one may be out until its restart."""
        reasons = self.without(())
        if reasons and isinstance(self.metadata, Ensemble) and self.metadata.too_few == 2:
            others = {server.name for server in self.metadata.servers} - set(back)
            return [] if any(not self.without({name}) for name in others) else reasons
        return reasons

    @property
    def leaderless(self) -> list[Reason]:
        """Why a broker could not register: the metadata quorum has no leader."""
        if isinstance(self.metadata, Ensemble):
            standalone = len(self.monitors) == 1 and not self.without(())
            return [] if standalone or gate_rules.leaders(self.monitors) else [Reason("no ZooKeeper server leads")]
        assert self.state is not None
        if isinstance(self.state, KclusterError):
            return [Reason(self.state.message)]
        return [] if self.state.leader >= 0 else [Reason("no controller leads")]

    @property
    def lost(self) -> list[Reason]:
        """Why brokers would not tell min.insync.replicas: they read it from ZooKeeper, and wait for its quorum."""
        return list(gate_rules.quorum_lost(self.monitors))


@dataclass(frozen=True)
class SafeSet:
    """Nodes that may stop together."""

    nodes: list[Node]
    late: list[Node]
    """Those of the turn that could stop with them if every replica were in sync."""
    reasons: tuple[Reason, ...]
    """Why the first, which is alone then, may not stop."""


@dataclass(frozen=True)
class Snapshot:
    """The answers of a cluster that tell which of some nodes may stop."""

    running: Running
    quorum: QuorumAnswers
    unsafe_partitions: bool = False
    starting: Mapping[str, Reason] = field(default_factory=dict)
    """Why a node that starts may not stop, by its name."""
    views: Mapping[int, ClusterView | KclusterError] = field(default_factory=dict)
    """The cluster as each broker knows it, or why it does not answer."""
    min_isr: Mapping[str, int | None] = field(default_factory=dict)
    """min.insync.replicas of each topic with a replica on one of the nodes; None where it may not be read."""
    silences: Mapping[tuple[int, int], float | None] = field(default_factory=dict)
    """In-sync followers that receive nothing, with their leaders and the seconds."""

    def hopeless(self, nodes: Iterable[Node]) -> list[Reason]:
        """Why no waiting makes it safe that these nodes stop together; empty when it may become safe."""
        in_use = self._in_use(nodes)
        reasons = list(gate_rules.majority_lost(self.quorum.metadata, metadata_nodes(in_use)))
        brokers = broker_ids(in_use)
        if brokers and not self.quorum.lost:
            reasons += gate_rules.too_few_replicas(brokers, self._known, self.min_isr)
        return reasons

    def reasons(self, nodes: Iterable[Node]) -> tuple[Reason, ...]:
        """Why these nodes may not stop together now; empty when they may."""
        in_use = self._in_use(nodes)
        reasons = [self.starting[node.name] for node in in_use if node.name in self.starting]
        if names := metadata_nodes(in_use):
            reasons += self.quorum.without(names)
        if brokers := broker_ids(in_use):
            reasons += [] if names else self.quorum.leaderless
            reasons += self.quorum.lost or self._brokers_without(brokers)
        return tuple(reasons)

    def safe_set(self, turn: Turn[Node], most: int | None) -> SafeSet:
        """The first node of a turn, with at most `most` others that may stop together with it."""
        added = self.grown([turn.first], [[node] for node in turn.candidates], most)
        nodes = [turn.first, *(node for group in added for node in group)]
        if turn.last and len(added) == len(turn.candidates) and self.grown(nodes, [[turn.last]]):
            nodes.append(turn.last)
        left_out = [node for node in turn.others if node not in nodes] if most is None or len(nodes) <= most else []
        late = [node for node in left_out if not self.hopeless([*nodes, node])]
        return SafeSet(nodes, late, self.reasons(nodes))

    def grown(
        self, nodes: Sequence[Node], groups: Iterable[Sequence[Node]], most: int | None = None
    ) -> list[Sequence[Node]]:
        """Those of these groups that may stop together with the nodes, in this order, and no more than `most`."""
        spare = SpareReplicas(self._fetching, self.min_isr, unsafe_partitions=self.unsafe_partitions)
        added: list[Sequence[Node]] = []
        if self.reasons(nodes) or not spare.take(broker_ids(self._in_use(nodes))):
            return added
        names = metadata_nodes(self._in_use(nodes))
        for group in groups:
            if most is not None and len(added) >= most:
                break
            in_use = self._in_use(group)
            more = metadata_nodes(in_use)
            if self._held_back(in_use, names | more if more else set()) or not spare.take(broker_ids(in_use)):
                continue
            names |= more
            added.append(group)
        return [] if self.reasons([*nodes, *(node for group in added for node in group)]) else added

    def _held_back(self, nodes: Sequence[Node], stopping: set[str]) -> bool:
        """Whether one of the nodes starts, or the metadata quorum cannot do without these servers or controllers."""
        if any(node.name in self.starting for node in nodes):
            return True
        lost = list(gate_rules.majority_lost(self.quorum.metadata, stopping))
        return bool(lost or (stopping and self.quorum.without(stopping)))

    def _brokers_without(self, stopping: Collection[int]) -> Iterator[Reason]:
        yield from gate_rules.brokers_missing(stopping, self.views)
        min_isr = {topic.name: self.min_isr.get(topic.name) for topic in gate_rules.topics_on(self._known, stopping)}
        risky = list(
            gate_rules.isr_at_risk(stopping, self._fetching, min_isr, unsafe_partitions=self.unsafe_partitions)
        )
        if risky:
            relied_on = gate_rules.fetches(stopping, self._known)
            silences = {pair: since for pair, since in self.silences.items() if pair in relied_on}
            yield from (*risky, *gate_rules.silent(silences))

    def _in_use(self, nodes: Iterable[Node]) -> list[Node]:
        return [node for node in nodes if not self.running.dead(node)]

    @cached_property
    def _known(self) -> list[ClusterView]:
        return distinct(available(self.views.values()))

    @cached_property
    def _fetching(self) -> list[ClusterView]:
        return [gate_rules.without_silent(view, self.silences) for view in self._known]


def metadata_nodes(nodes: Iterable[Node]) -> set[str]:
    """The names of the ZooKeeper servers and controllers among these nodes."""
    return {node.name for node in nodes if isinstance(node, Server | Controller)}


def broker_ids(nodes: Iterable[Node]) -> set[int]:
    """The ids of the brokers among these nodes."""
    return {node.id for node in nodes if isinstance(node, Broker)}


def available(views: Iterable[ClusterView | KclusterError]) -> list[ClusterView]:
    """The views of the brokers that answered."""
    return [view for view in views if isinstance(view, ClusterView)]


def distinct(views: Iterable[ClusterView]) -> list[ClusterView]:
    """One view for those that agree, so that hundreds of brokers are judged as quickly as one."""
    found: list[ClusterView] = []
    for view in views:
        if not any((each.brokers, each.topics) == (view.brokers, view.topics) for each in found):
            found.append(view)
    return found
