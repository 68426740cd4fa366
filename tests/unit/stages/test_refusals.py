"""What is refused of the metadata quorum, and what may be done though a node of it is empty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.model.cluster import Cluster
from kcluster.model.quorum import Quorum
from kcluster.model.reason import Reason
from kcluster.plan import Refusal
from kcluster.stages import after, stages
from kcluster.stages.ensemble import leaving
from kcluster.stages.refusals import refusals
from tests.unit.plan.observed_hosts import NEW, OLD
from tests.unit.stages.changes import servers

BEHIND = Reason("controller-3002 is behind controller-3003")


def refused(
    cluster: Cluster, *blank: str, others: tuple[Reason, ...] = (), wanted: Cluster | None = None
) -> tuple[Refusal, ...]:
    running = after(cluster)
    there = {name: found for name, found in running.settings.items() if name not in blank}
    return refusals(replace(running, settings=there), wanted or cluster, wanted or cluster, blank, others, {})


@pytest.mark.parametrize("cluster", [OLD, NEW])
def test_two_empty_of_three_would_forget_the_cluster(cluster: Cluster) -> None:
    names = [node.name for node in cluster.metadata.nodes]
    (refusal,) = refused(cluster, *names[:2])
    assert "2 of 3" in refusal.what
    assert f"({names[0]} on h1, {names[1]} on h2)" in refusal.what
    assert refused(cluster, *names) == (), "nothing is there that could be lost"


def test_an_empty_one_joins_only_what_is_complete() -> None:
    assert refused(NEW, "controller-3001") == ()
    (refusal,) = refused(NEW, "controller-3001", others=(BEHIND,))
    assert refusal.what == (
        "controller-3001 on h1 has no data, and may only join when all other controllers serve and are in sync: "
        "controller-3002 is behind controller-3003"
    )


def test_other_voters_are_refused_before_anything_else() -> None:
    assert isinstance(NEW.metadata, Quorum)
    one = replace(NEW, metadata=replace(NEW.metadata, controllers=NEW.metadata.controllers[:1]))
    (refusal,) = refused(NEW, "controller-3002", wanted=one)
    assert "has the controllers 3001, 3002, 3003, the inventory 3001" in refusal.what
    assert refused(NEW, wanted=NEW) == ()


def test_a_server_leaves_after_it_was_stopped() -> None:
    running = after(servers(1, 2, 3))
    way = [stage.cluster for stage in stages(running, servers(1, 2))]
    assert leaving(running, way[0]) == {}, "first the brokers forget it"
    assert leaving(after(way[0]), way[1]) == {"zookeeper-3": ("10.0.0.3", 3888)}
    (refusal,) = refusals(running, servers(1, 2), way[1], (), (), {"zookeeper-3": "10.0.0.3"})
    assert refusal.resolution.startswith("stop it first: ssh 10.0.0.3 ")
