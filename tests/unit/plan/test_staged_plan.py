"""A plan of several stages: what is shown, what is agreed to, and what hosts look like in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.errors import RefusedError
from kcluster.model.cluster import Cluster
from kcluster.plan import Action, Change, Plan, Restart
from kcluster.plan.agreed_plan import AgreedPlan
from kcluster.plan.carried_out import carried_out
from tests.unit.plan.observed_hosts import NEW, OLD, bare, plan, running, text_of

FILE = "/etc/kafka/server.properties"


def stage(title: str, diff: str) -> Plan:
    return Plan(
        "demo",
        changes=(Change("h1", Action.CHANGE, FILE, "broker-1", diff=diff),),
        restarts=(Restart("broker-1", "h1", "kafka", ("listeners change",)),),
        title=title,
    )


FIRST, LAST = stage("open MORE", "+a"), stage("", "+b")
STAGED = replace(FIRST, later=(LAST,))


def test_each_stage_is_a_section_and_all_are_counted() -> None:
    shown = text_of(STAGED)
    assert "stage 1 of 2: open MORE" in shown
    assert "stage 2 of 2: the rest" in shown
    assert "demo: 2 stages, 2 changes, 2 restarts" in shown
    assert not STAGED.nothing
    assert [each["title"] for each in STAGED.data()["later"]] == [""]


def test_what_is_left_of_agreed_stages_may_be_done_and_nothing_else() -> None:
    agreed = AgreedPlan.of(STAGED, OLD)
    agreed.refuse_moved(AgreedPlan.of(LAST, OLD))
    with pytest.raises(RefusedError, match="hosts of demo have changed"):
        agreed.refuse_moved(AgreedPlan.of(stage("", "+c"), OLD))
    with pytest.raises(RefusedError, match="hosts of demo have changed"):
        agreed.refuse_moved(AgreedPlan.of(stage("close MORE", "+b"), OLD))


@pytest.mark.parametrize("cluster", [OLD, NEW])
def test_hosts_that_were_brought_there_have_nothing_left_to_do(cluster: Cluster) -> None:
    for seen in (bare(cluster), running(cluster)):
        found = plan(cluster, carried_out(cluster, seen))
        assert found.nothing, text_of(found)
