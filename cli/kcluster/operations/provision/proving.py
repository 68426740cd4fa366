"""After the change: the cluster is healthy, its topics are there, and it keeps what it acknowledges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.errors import RefusedError
from kcluster.operations.health import until_healthy
from kcluster.operations.provision.phases import Phases
from kcluster.operations.smoke import smoke
from kcluster.operations.topic import change
from kcluster.operations.topic import plan as topics

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.model.cluster import Cluster

MESSAGES = 300
"""Enough to go through every broker and listener; `kcluster smoke` takes more."""

_HEALTHY_WITHIN = 60.0


@dataclass(frozen=True)
class Proof:
    """What was found after the change."""

    topics: int
    """How many changes of topics were made."""
    sentence: str
    holds: bool


def prove(cluster: Cluster, kafka: Kafka, phases: Phases, *, thorough: bool) -> Proof:
    """Wait for health, bring the declared topics into being, and prove the cluster with real messages."""
    with phases.phase("verify", "verify health"):
        health = until_healthy(kafka, cluster, within=_HEALTHY_WITHIN, progress=phases.say)
    if not health.ok and thorough:
        failed = [f"{check.name}: {check.detail}" for check in health.checks if not check.ok]
        raise RefusedError(
            f"{cluster.name} was changed and is not healthy after {_HEALTHY_WITHIN:.0f} s",
            details="\n".join(failed),
            resolution="see kcluster health and kcluster logs; the next provision goes on from here",
        )
    made = _topics(cluster, kafka, phases) if thorough and cluster.topics else 0
    if not thorough:
        return Proof(made, "", holds=True)
    with phases.phase("smoke", "prove with real messages"):
        verdict = smoke(kafka, cluster.brokers, messages=MESSAGES)
    return Proof(made, verdict.sentence, verdict.holds)


def _topics(cluster: Cluster, kafka: Kafka, phases: Phases) -> int:
    with phases.phase("topics", f"compare {len(cluster.topics)} declared topics"):
        wanted = topics.plan(kafka, cluster.topics)
        if wanted.steps:
            change.carry_out(kafka, wanted, phases.say)
    return len(wanted.steps)
