"""After the change: the cluster is healthy, its topics are there, and it keeps what it acknowledges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kcluster.errors import RefusedError
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations.health import until_healthy
from kcluster.operations.smoke import smoke
from kcluster.operations.topic import apply
from kcluster.operations.topic import plan as topics
from kcluster.rollout.phases import Phases

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.model.cluster import Cluster
    from kcluster.plan import Plan
    from kcluster.smoke.result import SmokeResult

MESSAGES = 300
"""Enough to go through every broker and listener; `kcluster smoke` takes more."""

_HEALTHY_WITHIN = 60.0
_PROVEN_WITHIN = 60.0
"""More than `kcluster smoke` takes: brokers that just started are slow at first."""
_PART_HEALTHY_WITHIN = 10.0
_FIRST = 5


@dataclass(frozen=True)
class Verification:
    """What was found after the change."""

    topics: int = 0
    """How many changes of topics were made."""
    sentence: str = ""
    """The verdict of the smoke test; nothing when it was not asked for."""
    problems: tuple[str, ...] = ()
    """Why the cluster is not as it should be; nothing when it is."""


def verify(cluster: Cluster, kafka: Kafka, plan: Plan, phases: Phases, *, whole: bool, smoke_too: bool) -> Verification:
    """Wait for health, change topics as the plan showed it, and prove the cluster with real messages.

    Where only a part of the hosts was provisioned, the others may be why it is not healthy: it is only said.
    """
    changed = not plan.nothing
    within = _HEALTHY_WITHIN if whole else _PART_HEALTHY_WITHIN
    with phases.phase("verify", "verify health"):
        health = until_healthy(kafka, cluster, within=within, progress=phases.say)
    sick = tuple(f"{check.name}: {check.detail}" for check in health.checks if not check.ok)
    if not whole:
        return Verification(problems=sick)
    if sick:
        raise RefusedError(
            f"{cluster.name} {'was changed and ' if changed else ''}is not healthy after {within:.0f} s",
            details="\n".join(sick),
            resolution="see kcluster health and kcluster logs; the next provision goes on from here",
        )
    made = _topics(cluster, kafka, plan, phases) if plan.topics or plan.topics is None else 0
    if not smoke_too:
        return Verification(made)
    with phases.phase("smoke", "prove with real messages"):
        verdict = smoke(kafka, cluster.brokers, messages=MESSAGES, timeout=_PROVEN_WITHIN)
    return Verification(made, verdict.sentence, () if verdict.passed else tuple(_why(verdict)))


def _why(verdict: SmokeResult) -> list[str]:
    """What stands against the proof: the problems, and the first faults of records."""
    faults = [f"{fault.flaw} {fault.detail}" for fault in verdict.verdict.faults[:_FIRST]]
    return [*verdict.problems, *faults] or [verdict.sentence]


def _topics(cluster: Cluster, kafka: Kafka, plan: Plan, phases: Phases) -> int:
    """Make the steps that somebody agreed to; what differs besides is told, for the next run to show and ask."""
    with phases.phase("topics", f"compare {len(cluster.topics)} declared topics"):
        found = topics.compare(kafka, cluster.topics)
        agreed = [step for step in found.steps if _agreed(step, plan)]
        for step in found.steps:
            if step not in agreed:
                phases.say(f"left for the next run, which asks first: {step.words}")
        if agreed:
            wanted = replace(found, changes=agreed)
            apply.check(kafka, wanted)
            apply.carry_out(kafka, wanted, phases.say)
    return len(agreed)


def _agreed(step: TopicChange, plan: Plan) -> bool:
    """Whether the plan showed this step; one that could not compare said that what is missing will be created."""
    if plan.topics is None:
        return step.action is TopicAction.CREATE and not plan.nothing
    return step in plan.topics
