"""Verification after a change: wait for health, carry out the planned changes of topics, run the smoke test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kcluster.errors import RefusedError
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations.health import until_healthy
from kcluster.operations.smoke import smoke
from kcluster.operations.topic import apply
from kcluster.operations.topic import plan as topics
from kcluster.results import counted
from kcluster.rollout.phases import Phases

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.model.cluster import Cluster
    from kcluster.plan import Plan
    from kcluster.smoke.result import SmokeResult

MESSAGES = 300
"""Enough to go through every broker and listener; `kcluster smoke` takes more."""

_HEALTHY_WITHIN = 60.0
_SMOKE_WITHIN = 60.0
"""More than `kcluster smoke` takes: brokers that just started are slow at first."""
_PART_HEALTHY_WITHIN = 10.0
_FIRST = 5


@dataclass(frozen=True)
class Verification:
    """The outcome of the verification."""

    topics: int = 0
    """How many changes of topics were made."""
    sentence: str = ""
    """The verdict of the smoke test; empty without one."""
    problems: tuple[str, ...] = ()
    """What is wrong with the cluster; empty when it is healthy and the smoke test passed."""


def verify(cluster: Cluster, kafka: Kafka, plan: Plan, phases: Phases, *, whole: bool, smoke_too: bool) -> Verification:
    """Wait for health, change topics as the plan showed it, and run the smoke test; blocks for at most two minutes.

    RefusedError when the whole cluster is not healthy in time. Where only some hosts were provisioned, the others may
    be the reason, so that failed health checks are problems of the result, and nothing else is done.
    """
    changed = not plan.nothing
    within = _HEALTHY_WITHIN if whole else _PART_HEALTHY_WITHIN
    with phases.phase("verify", "verify health"):
        health = until_healthy(kafka, cluster, within=within, progress=phases.say)
    failed = tuple(f"{check.name}: {check.detail}" for check in health.checks if not check.ok)
    if not whole:
        return Verification(problems=failed)
    if failed:
        raise RefusedError(
            f"{cluster.name} {'was changed and ' if changed else ''}is not healthy after {within:.0f} s",
            details="\n".join(failed),
            resolution="see kcluster health and kcluster logs; run provision again to continue",
        )
    topic_changes = _topics(cluster, kafka, plan, phases) if plan.topics or plan.topics is None else 0
    if not smoke_too:
        return Verification(topic_changes)
    with phases.phase("smoke", "smoke test"):
        verdict = smoke(kafka, cluster, messages=MESSAGES, timeout=_SMOKE_WITHIN)
    return Verification(topic_changes, verdict.sentence, () if verdict.passed else tuple(_failures(verdict)))


def _failures(verdict: SmokeResult) -> list[str]:
    """The problems of a failed smoke test, and the first faults of records."""
    faults = [f"{fault.flaw} {fault.detail}" for fault in verdict.verdict.faults[:_FIRST]]
    return [*verdict.problems, *faults] or [verdict.sentence]


def _topics(cluster: Cluster, kafka: Kafka, plan: Plan, phases: Phases) -> int:
    """Make the changes that the confirmed plan showed; others are reported, for the next run to show and confirm."""
    with phases.phase("topics", f"compare {counted(len(cluster.topics), 'declared topic')}"):
        topic_plan = topics.compare(kafka, cluster.topics)
        confirmed = [step for step in topic_plan.steps if _confirmed(step, plan)]
        for step in topic_plan.steps:
            if step not in confirmed:
                phases.say(f"not in the confirmed plan, left for the next run: {step.words}")
        if confirmed:
            topic_plan = replace(topic_plan, changes=confirmed)
            apply.check(kafka, topic_plan)
            apply.carry_out(kafka, topic_plan, phases.say)
    return len(confirmed)


def _confirmed(step: TopicChange, plan: Plan) -> bool:
    """Whether the plan showed this change; a plan that could not compare topics said that missing ones are created."""
    if plan.topics is None:
        return step.action is TopicAction.CREATE and not plan.nothing
    return step in plan.topics
