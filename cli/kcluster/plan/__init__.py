"""Wanted minus observed: what it takes to make the hosts what the inventory says, and in which order. Pure."""

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
    """The nodes that go last, by name: as the cluster itself says, None where nobody could be asked."""

    zookeeper_leader: str | None = None
    controller: str | None = None
    """The active KRaft controller; with ZooKeeper the broker that is controller."""
    spark_leader: str | None = None

    def last(self, node: Node) -> str:
        """Why a node goes last of its kind; empty when it does not."""
        if node.name == self.zookeeper_leader:
            return "it leads ZooKeeper"
        if node.name == self.spark_leader:
            return "it leads Spark"
        return "it is the controller" if node.name == self.controller else ""


def plan(part: Part, seen: Mapping[str, ObservedHost], roles: Roles, cluster_id: str = "") -> Plan:
    """What it takes on the hosts that were seen; `cluster_id` is known where the running cluster was asked for it."""
    found = pairs(part, seen)
    live = [pair for pair in found if pair.running]
    reasons = {pair.node.name: restart_reasons.reasons(pair) for pair in live}
    restarted = [pair for pair in live if reasons[pair.node.name]]
    settings, left = restart_reasons.settings(found, restarted)
    return Plan(
        cluster=part.name,
        changes=tuple(change for host in seen.values() for change in changes([p for p in found if p.host is host])),
        starts=tuple(Start(pair.node.name, pair.host.name, pair.unit) for pair in found if not pair.running),
        restarts=tuple(_restart(pair, reasons[pair.node.name], roles) for pair in order(restarted, roles)),
        settings=settings,
        refused=refusals(found, cluster_id),
        notes=(*(note for pair in live for note in restart_reasons.strangers(pair)), *left),
        fresh=not live and not any(pair.has_data for pair in found),
    )


def joined(plans: Sequence[Plan]) -> Plan:
    """The plans of the parts of a cluster as one, the first part first."""
    return replace(
        plans[0],
        # What both want of a host, as of its kernel, is one change.
        changes=tuple(dict.fromkeys(one for plan in plans for one in plan.changes)),
        starts=tuple(one for plan in plans for one in plan.starts),
        restarts=tuple(one for plan in plans for one in plan.restarts),
        settings=tuple(one for plan in plans for one in plan.settings),
        refused=tuple(one for plan in plans for one in plan.refused),
        notes=tuple(one for plan in plans for one in plan.notes),
        fresh=all(plan.fresh for plan in plans),
    )


def order(pairs: Iterable[Pair], roles: Roles) -> list[Pair]:
    """The safe order of a roll: in the order of the kinds; whoever is in charge of its kind last of it."""

    def place(pair: Pair) -> tuple[int, bool, int]:
        return _KINDS.index(pair.node.kind), bool(roles.last(pair.node)), pair.node.id

    return sorted(pairs, key=place)


def _restart(pair: Pair, why: tuple[str, ...], roles: Roles) -> Restart:
    return Restart(pair.node.name, pair.host.name, pair.unit, why, roles.last(pair.node))
