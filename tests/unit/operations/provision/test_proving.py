"""Which steps of topics a run makes: those that its plan showed, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kcluster.clients.kafka import Kafka
from kcluster.journal import Journal
from kcluster.model.topic import Topic
from kcluster.model.topic_change import Action, Change
from kcluster.operations.health import Health
from kcluster.operations.provision import proving
from kcluster.operations.provision.phases import Phases
from kcluster.operations.topic.change import Plan as Found
from kcluster.plan import Plan, Start
from kcluster.results import Progress
from tests.unit.operations.provision.test_phases import Said
from tests.unit.plan.seen import OLD

MADE = Change(Action.CREATE, "made", after="1 partitions, replication factor 1")
SET = Change(Action.SET, "orders", "retention.ms", "9", "1")
KEPT = Change(Action.KEEP, "orders", "partitions", "3", "2", "partitions only grow")
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
def test_only_the_steps_that_were_shown_are_made_and_the_others_are_told(
    plan: Plan, made: list[Change], left: list[Change], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    done: list[Change] = []

    def carry_out(kafka: Kafka, wanted: Found, progress: Progress) -> None:
        done.extend(wanted.steps)

    monkeypatch.setattr(proving, "until_healthy", lambda *_, **__: Health("demo", ()))
    monkeypatch.setattr(proving.topics, "compare", lambda kafka, declared: Found([KEPT, MADE, SET], {}))
    monkeypatch.setattr(proving.change, "check", lambda kafka, wanted: None)
    monkeypatch.setattr(proving.change, "carry_out", carry_out)
    said = Said()
    cluster = replace(OLD, topics=(Topic("made"), Topic("orders")))
    with Journal.begin("demo", ["kcluster"]) as journal:
        phases = Phases(said, journal)
        proof = proving.prove(cluster, Kafka("127.0.0.1:1"), plan, phases, whole=True, smoke_too=False)
    assert (done, proof.topics) == (made, len(made))
    assert said.lines == [f"left for the next run, which asks first: {step.words}" for step in left]
