"""The difference between inventory and observed hosts as the steps of a plan, in a safe order. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kcluster.model.cluster import Part
from kcluster.model.node import Kind, Node
from kcluster.model.observed import ObservedHost
from kcluster.plan import restart_reasons
from kcluster.plan.changes import changes
from kcluster.plan.pairs import Pair, pairs
from kcluster.plan.refusals import refusals
from kcluster.plan.steps import Action, Change, Dynamic, Plan, Refusal, Restart, Start

__all__ = [
    "Action",
    "Change",
    "Dynamic",
    "Plan",
    "Refusal",
    "Restart",
    "Roles",
    "Start",
    "joined",
    "plan",
]

_KINDS = tuple(Kind)


@dataclass(frozen=True)
class Roles:
    """The names of the nodes that restart last of their kind; None where the cluster could not be asked."""

    zookeeper_leader: str | None = None
    controller: str | None = None
    """The active KRaft controller; with ZooKeeper the broker that is controller."""
    spark_leader: str | None = None

    def last(self, node: Node) -> str:
        """Why a node restarts last of its kind; empty when it does not."""
        if node.name == self.zookeeper_leader:
            return "ZooKeeper leader"
        if node.name == self.spark_leader:
            return "leading Spark master"
        return "controller" if node.name == self.controller else ""


def plan(part: Part, observed: Mapping[str, ObservedHost], roles: Roles, cluster_id: str = "") -> Plan:
    """The plan for the observed hosts of a part; `cluster_id` is empty where the running cluster was not asked."""
    all_pairs = pairs(part, observed)
    live = [pair for pair in all_pairs if pair.running]
    reasons = {pair.node.name: restart_reasons.reasons(pair) for pair in live}
    restarted = [pair for pair in live if reasons[pair.node.name]]
    settings, notes = restart_reasons.settings(all_pairs, restarted)
    return Plan(
        cluster=part.name,
        changes=tuple(
            change for host in observed.values() for change in changes([p for p in all_pairs if p.host is host])
        ),
        starts=tuple(Start(pair.node.name, pair.host.name, pair.unit) for pair in all_pairs if not pair.running),
        restarts=tuple(_restart(pair, reasons[pair.node.name], roles) for pair in order(restarted, roles)),
        settings=settings,
        refused=refusals(all_pairs, cluster_id),
        notes=(*(note for pair in live for note in restart_reasons.foreign_settings(pair)), *notes),
        fresh=not live and not any(pair.has_data for pair in all_pairs),
    )


def joined(plans: Sequence[Plan]) -> Plan:
    """The plans of the parts of a cluster as one, the first part first."""
    return replace(
        plans[0],
        # A change that several parts need on a host, as of its kernel, is one change.
        changes=tuple(dict.fromkeys(change for plan in plans for change in plan.changes)),
        starts=tuple(start for plan in plans for start in plan.starts),
        restarts=tuple(restart for plan in plans for restart in plan.restarts),
        settings=tuple(setting for plan in plans for setting in plan.settings),
        refused=tuple(refusal for plan in plans for refusal in plan.refused),
        notes=tuple(note for plan in plans for note in plan.notes),
        fresh=all(plan.fresh for plan in plans),
    )


def order(pairs: Iterable[Pair], roles: Roles) -> list[Pair]:
    """The safe order of a roll: in the order of the kinds, the leader of each kind last of it."""

    def place(pair: Pair) -> tuple[int, bool, int]:
        return _KINDS.index(pair.node.kind), bool(roles.last(pair.node)), pair.node.id

    return sorted(pairs, key=place)


def _on(host: ObservedHost, all_pairs: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in all_pairs if pair.host is host]


def _restart(pair: Pair, why: tuple[str, ...], roles: Roles) -> Restart:
    return Restart(pair.node.name, pair.host.name, pair.unit, why, roles.last(pair.node))
