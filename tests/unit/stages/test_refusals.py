"""What is refused of the metadata quorum, and what may be done though a node of it is empty."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from kcluster.model.cluster import Cluster
from kcluster.model.quorum import Quorum
from kcluster.model.reason import Reason
from kcluster.plan import Refusal
from kcluster.stages import after, stages
from kcluster.stages.ensemble import leaving
from kcluster.stages.refusals import refusals
from tests.unit.plan.observed_hosts import NEW, OLD
from tests.unit.stages.changes import LOGIN, PLAIN, SASL, listening, servers, with_config

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


def jaas(user: str, **users: str) -> Cluster:
    """The brokers log in as this user, and accept these users with their passwords."""
    accepted = " ".join(f'user_{name}="{word}"' for name, word in users.items())
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    line = f'{module} username="{user}" password="{users[user]}" {accepted};'
    return with_config(SASL, {**LOGIN, "listener.name.internal.plain.sasl.jaas.config": line})


def test_another_password_of_brokers_takes_a_login_beside_the_old_one() -> None:
    old, new = jaas("broker", broker="sesame"), jaas("broker", broker="hush")
    (refusal,) = refused(old, wanted=new)
    assert refusal.what == (
        "while brokers restart one at a time, broker-1 would log in as broker over INTERNAL (SASL_PLAINTEXT, PLAIN), "
        "and broker-1 on h1 does not accept that password of it"
    )
    assert not any(word in f"{refusal}" for word in ("sesame", "hush"))
    way = [
        old,
        jaas("broker", broker="sesame", b2="hush"),
        jaas("b2", broker="sesame", b2="hush"),
        jaas("b2", b2="hush"),
    ]
    assert [refused(one, wanted=other) for one, other in pairwise(way)] == [(), (), ()]


def test_brokers_that_shall_not_talk_alike_must_offer_each_other_what_they_talk() -> None:
    both = [("internal", 9092, "PLAINTEXT"), ("replication", 9094, "PLAINTEXT")]
    one, other = listening(OLD, "internal", *both), listening(OLD, "replication", *both)
    mixed = replace(one, brokers=(*one.brokers[:2], *other.brokers[2:]))
    assert refused(one, wanted=mixed) == ()
    (refusal,) = refused(PLAIN, wanted=mixed)
    assert "broker-3 would talk over REPLICATION (PLAINTEXT), which broker-1 on h1 does not offer" in refusal.what


def test_a_server_leaves_after_it_was_stopped() -> None:
    running = after(servers(1, 2, 3))
    way = [stage.cluster for stage in stages(running, servers(1, 2))]
    assert leaving(running, way[0]) == {}, "first the brokers forget it"
    assert leaving(after(way[0]), way[1]) == {"zookeeper-3": ("10.0.0.3", 3888)}
    (refusal,) = refusals(running, servers(1, 2), way[1], (), (), {"zookeeper-3": "10.0.0.3"})
    assert refusal.resolution.startswith("stop it first: ssh 10.0.0.3 ")
