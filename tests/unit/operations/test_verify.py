"""Which steps of topics a run makes: those that its plan showed, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kcluster.clients.kafka import Kafka
from kcluster.journal import Journal
from kcluster.model.topic import Topic
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations import verify
from kcluster.operations.health import Health
from kcluster.operations.topic.apply import TopicPlan as Found
from kcluster.plan import Plan, Start
from kcluster.results import Progress
from kcluster.rollout.phases import Phases
from tests.unit.plan.observed_hosts import OLD
from tests.unit.rollout.test_phases import Said

MADE = TopicChange(TopicAction.CREATE, "made", after="1 partition, replication factor 1")
SET = TopicChange(TopicAction.SET, "orders", "retention.ms", "9", "1")
KEPT = TopicChange(TopicAction.KEEP, "orders", "partitions", "3", "2", "partitions only grow")
START = (Start("broker-1", "h1", "kafka"),)


@pytest.mark.parametrize(
    ("plan", "made", "left"),
    [
        (Plan("demo", topics=(MADE, SET)), [MADE, SET], []),
        (Plan("demo", topics=(MADE,)), [MADE], [SET]),  # the other one came to be after the question
        (Plan("demo", topics=(replace(SET, before="7"),)), [], [MADE, SET]),  # somebody changed it meanwhile
        (Plan("demo", topics=None, starts=START), [MADE], [SET]),  # nobody could be asked; creating was agreed to
        (Plan("demo", topics=None), [], [MADE, SET]),  # nobody could be asked, and nobody was
    ],
)
def test_only_the_topic_changes_of_the_plan_are_made_and_the_others_are_reported(
    plan: Plan, made: list[TopicChange], left: list[TopicChange], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    done: list[TopicChange] = []

    def carry_out(kafka: Kafka, wanted: Found, progress: Progress) -> None:
        done.extend(wanted.steps)

    monkeypatch.setattr(verify, "until_healthy", lambda *_, **__: Health("demo", ()))
    monkeypatch.setattr(verify.topics, "compare", lambda kafka, declared: Found([KEPT, MADE, SET], {}))
    monkeypatch.setattr(verify.apply, "check", lambda kafka, wanted: None)
    monkeypatch.setattr(verify.apply, "carry_out", carry_out)
    said = Said()
    cluster = replace(OLD, topics=(Topic("made"), Topic("orders")))
    with Journal.begin("demo", ["kcluster"]) as journal:
        phases = Phases(said, journal)
        proof = verify.verify(cluster, Kafka("127.0.0.1:1"), plan, phases, whole=True, smoke_too=False)
    assert (done, proof.topics) == (made, len(made))
    assert said.lines == [f"not in the confirmed plan, left for the next run: {step.words}" for step in left]
