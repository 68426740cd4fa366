from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.clients.wire import NodeIdentity, QuorumState, Voter
from kcluster.errors import RefusedError, UnreachableError
from kcluster.health import checks
from kcluster.health.cluster_facts import ClusterFacts
from kcluster.health.questions import Endpoint, ServerState
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.release import Release
from kcluster.model.running import ProcessState, Recovery, Running

GONE = "10.0.0.2:9092 does not answer: refused"


def broker(number: int) -> Broker:
    host = Host(f"b{number}", f"10.0.0.{number}")
    listener = Listener(name="internal", port=9092, advertised_host=host.address, advertised_port=9092)
    return Broker(host=host, id=number, listeners=(listener,))


BROKERS = tuple(broker(number) for number in (1, 2, 3))
SERVERS = tuple(Server(host=Host(f"z{number}", f"10.0.1.{number}"), id=number) for number in (1, 2, 3))
CLUSTER = Cluster("demo", Release(), Ensemble(SERVERS), BROKERS)
REGISTERED = {number: f"10.0.0.{number}:9092" for number in (1, 2, 3)}
DOORS = [Endpoint(one.name, one.host.address, 9092, "PLAINTEXT", "INTERNAL") for one in BROKERS]


def facts(**given: Any) -> ClusterFacts:
    return ClusterFacts(**{"cluster": CLUSTER, "registered": REGISTERED, **given})


def states(*modes: str, synced: int | None = 2) -> Mapping[str, ServerState]:
    return {
        f"zookeeper-{number}": ServerState(mode, synced if mode == "leader" else None, "" if mode else "does not serve")
        for number, mode in enumerate(modes, 1)
    }


def topic(isr: tuple[int, ...], *, leader: int | None = 1, min_isr: int = 2) -> TopicState:
    return TopicState(
        "orders", (Partition(0, leader, (1, 2, 3), isr), Partition(1, 2, (2, 3, 1), (2, 3, 1))), {}, min_isr
    )


def test_every_node_that_answers_is_up() -> None:
    check = checks.nodes_up(facts(nodes=dict.fromkeys(DOORS, "")))
    assert (check.ok, check.detail) == (True, "3 of 3 answer")


def test_a_silent_node_is_named_with_its_reason() -> None:
    check = checks.nodes_up(facts(nodes={DOORS[0]: "", DOORS[1]: GONE}))
    assert (check.ok, check.subject) == (False, "broker-2 INTERNAL")
    assert check.detail == f"1 of 2 answer; {GONE}"


def test_a_node_without_a_process_one_that_starts_and_one_that_hangs_are_told_apart() -> None:
    names = [door.node for door in DOORS]
    processes = dict(zip(names, (ProcessState.NONE, ProcessState.STARTING, ProcessState.LISTENING), strict=True))
    loading = Recovery("4 of 12 partitions of /data are loaded", "")
    running = Running(CLUSTER).observed(processes, {}, {"broker-2": loading})
    check = checks.nodes_up(
        facts(nodes={DOORS[0]: "", DOORS[1]: GONE, DOORS[2]: "10.0.0.3:9092 hangs"}, running=running)
    )
    assert check.detail.split("; ")[1].split(", ") == [
        "broker-1 has no process",
        "broker-2 is starting: 4 of 12 partitions of /data are loaded",
        "broker-3 has a process and does not answer: 10.0.0.3:9092 hangs",
    ]


def test_of_many_silent_nodes_the_first_are_named() -> None:
    doors = {Endpoint(f"broker-{number}", "h", number, "PLAINTEXT"): "gone" for number in range(1, 9)}
    assert checks.nodes_up(facts(nodes=doors)).subject.endswith("broker-5 and 3 more")


@pytest.mark.parametrize(
    ("modes", "ok", "subject"),
    [
        (("follower", "leader", "follower"), True, "zookeeper-2"),
        (("leader",), True, "zookeeper-1"),
        (("standalone",), True, "zookeeper-1"),
        (("follower", "follower", "follower"), False, ""),
        (("leader", "leader", "follower"), False, "zookeeper-1, zookeeper-2"),
        (("standalone", "leader", "follower"), True, "zookeeper-2"),
        (("standalone", "standalone", "standalone"), False, ""),
        (("", "", "follower"), False, ""),
    ],
)
def test_exactly_one_server_leads(modes: tuple[str, ...], ok: bool, subject: str) -> None:
    check = checks.leader(facts(servers=states(*modes)))
    assert (check.ok, check.subject) == (ok, subject)


def test_without_a_leader_each_server_says_what_it_is() -> None:
    detail = checks.leader(facts(servers=states("", "standalone", "follower"))).detail
    assert detail == "expected one leader, observed 0: zookeeper-1: does not serve, zookeeper-2: standalone"


def test_followers_in_sync() -> None:
    assert checks.followers(facts(servers=states("leader", "follower", "follower"))).ok
    assert checks.followers(facts(servers=states("leader"))).ok


def test_a_follower_that_is_not_in_sync_is_counted_and_a_missing_one_named() -> None:
    check = checks.followers(facts(servers=states("leader", "follower", "", synced=1)))
    assert (check.ok, check.detail, check.subject) == (False, "1 of 2 in sync", "zookeeper-3")


@pytest.mark.parametrize("modes", [("follower", "follower", ""), ("leader", "follower", "follower")])
def test_nobody_who_knows_the_followers_is_a_no(modes: tuple[str, ...]) -> None:
    assert not checks.followers(facts(servers=states(*modes, synced=None))).ok


def quorum(*caught_up: int | None, leader: int = 3000) -> QuorumState:
    voters = tuple(Voter(3000 + number, 100 - number, when) for number, when in enumerate(caught_up))
    return QuorumState(leader, 7, 100, voters, ())


def test_a_quorum_with_a_leader_and_level_voters() -> None:
    told = facts(quorum=quorum(100_000, 99_900, 99_000))
    assert checks.quorum_leader(told).detail == "controller 3000, epoch 7"
    assert checks.quorum_lag(told).ok
    assert checks.controller(told).subject == "controller-3000"


@pytest.mark.parametrize("late", [None, 90_000])
def test_a_voter_that_is_behind_is_named(late: int | None) -> None:
    check = checks.quorum_lag(facts(quorum=quorum(100_000, late, 100_000)))
    assert (check.ok, check.subject) == (False, "controller-3001")
    assert check.detail == "2 of 3 voters in sync with the leader; behind: controller-3001 (1 record)"


@pytest.mark.parametrize("state", [quorum(1, 1, 1, leader=-1), UnreachableError("no controller answers")])
def test_a_quorum_without_a_leader_is_a_no(state: Any) -> None:
    told = facts(quorum=state)
    assert not checks.quorum_leader(told).ok
    assert not checks.controller(told).ok


def test_the_brokers_are_those_of_the_inventory() -> None:
    assert checks.brokers_registered(facts()).detail == "3 of 3"


def test_a_broker_that_was_cut_off_and_still_knows_all_of_them_is_named() -> None:
    told = [NodeIdentity("id", 1, frozenset(known)) for known in ((1, 2, 3), (1, 3), (1, 2, 3))]
    check = checks.brokers_registered(facts(identities=dict(zip(DOORS, told, strict=True))))
    assert (check.ok, check.subject) == (False, DOORS[1].node)
    assert check.detail == f"3 of 3; {DOORS[1].node} knows broker-1, broker-3"


def test_missing_and_strange_brokers_are_named() -> None:
    check = checks.brokers_registered(facts(registered={1: "a:1", 2: "b:2", 7: "c:3"}))
    assert (check.ok, check.subject) == (False, "broker-3, broker-7")
    assert check.detail == "2 of 3; broker-3 is missing; broker-7 is not in the inventory"


@pytest.mark.parametrize(("seen", "ok"), [((2, 2, 2), True), ((2, 2, 1), False), ((-1, -1, -1), False), ((), False)])
def test_all_brokers_name_one_controller(seen: tuple[int, ...], ok: bool) -> None:
    told = {door: NodeIdentity("id", number) for door, number in zip(DOORS, seen, strict=False)}
    assert checks.controller(facts(identities=told)).ok is ok


def test_a_split_view_names_who_sees_what() -> None:
    told = {door: NodeIdentity("id", number) for door, number in zip(DOORS, (2, -1, 1), strict=True)}
    detail = checks.controller(facts(identities=told)).detail
    assert detail.endswith("broker-1 reports broker-2, broker-2 reports none, broker-3 reports broker-1")


def test_partitions_with_all_replicas_are_fine() -> None:
    told = facts(topics=(topic((1, 2, 3)),))
    assert [check(told).detail for check in (checks.offline, checks.under_replicated, checks.under_min_isr)] == [
        "0 of 2"
    ] * 3


def test_an_under_replicated_partition_is_named_with_what_is_missing() -> None:
    told = facts(topics=(topic((1, 3)),))
    check = checks.under_replicated(told)
    assert (check.ok, check.subject, check.detail) == (False, "broker-2", "1 of 2: orders-0 (without 2)")
    assert checks.under_min_isr(told).ok


def test_a_partition_below_min_isr_is_named() -> None:
    check = checks.under_min_isr(facts(topics=(topic((3,)),)))
    assert (check.ok, check.subject, check.detail) == (False, "broker-1, broker-2", "1 of 2: orders-0 (without 1 2)")


def test_a_partition_without_a_leader_is_offline() -> None:
    assert checks.offline(facts(topics=(topic((1,), leader=None),))).detail.startswith("1 of 2: orders-0")


def test_partitions_that_cannot_be_asked_are_a_no() -> None:
    check = checks.offline(facts(topics=UnreachableError("no broker answers at x")))
    assert (check.ok, check.detail) == (False, "unknown: no broker answers at x")


def test_an_address_that_does_not_answer_is_named_with_its_listener() -> None:
    check = checks.advertised(facts(advertised={DOORS[0]: "", DOORS[1]: GONE}))
    assert (check.ok, check.subject) == (False, "broker-2 INTERNAL")


def test_a_broker_that_advertises_something_else_is_told() -> None:
    moved = {**REGISTERED, 2: "localhost:9092"}
    check = checks.advertised(facts(advertised=dict.fromkeys(DOORS, ""), registered=moved))
    assert not check.ok
    assert check.detail.endswith("broker-2 advertises localhost:9092, the inventory has 10.0.0.2:9092")


def test_one_cluster_id() -> None:
    told = {door: NodeIdentity("abc", 1) for door in DOORS}
    assert checks.cluster_id(facts(identities=told)).detail == "abc on 3 of 3 that answer"


def test_two_clusters_that_answer_at_the_addresses_of_one_are_told_apart() -> None:
    told = dict(zip(DOORS, [NodeIdentity("abc", 1), NodeIdentity("abc", 1), NodeIdentity("xyz", 1)], strict=True))
    check = checks.cluster_id(facts(identities=told))
    assert (check.ok, check.detail) == (False, "expected one, observed 2: abc on broker-1, broker-2; xyz on broker-3")


def test_controllers_belong_to_the_same_cluster() -> None:
    door = Endpoint("controller-3000", "h", 1, "PLAINTEXT")
    told = facts(identities={DOORS[0]: NodeIdentity("abc", 1)}, controller_clusters={door: "xyz"})
    assert not checks.cluster_id(told).ok
    silent = facts(identities={DOORS[0]: NodeIdentity("abc", 1)}, controller_clusters={door: RefusedError("unknown")})
    assert checks.cluster_id(silent).ok


def test_the_questions_fit_the_kind_of_cluster() -> None:
    ensemble = [check.name for check in checks.all_checks(facts(servers=states("leader", "follower", "follower")))]
    kraft = [check.name for check in checks.all_checks(facts(quorum=quorum(1, 1, 1)))]
    bare = [check.name for check in checks.all_checks(facts(cluster=None))]
    assert ensemble[:3] == ["nodes up", "zookeeper leader", "zookeeper followers"]
    assert kraft[:3] == ["nodes up", "quorum leader", "quorum lag"]
    assert bare[0] == "brokers registered"


def test_a_cluster_is_silent_only_when_nothing_at_all_answers() -> None:
    silent = facts(nodes={DOORS[0]: GONE}, advertised={DOORS[0]: GONE}, registered=UnreachableError("gone"))
    assert silent.silent
    assert not facts(nodes={DOORS[0]: GONE, DOORS[1]: ""}, registered=UnreachableError("gone")).silent
