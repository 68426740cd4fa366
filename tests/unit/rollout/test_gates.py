from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.clients.kafka.topics import Partition, TopicState
from kcluster.clients.wire import QuorumState, Voter
from kcluster.errors import UnreachableError, UsageError
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.reason import Reason, details, lists
from kcluster.model.running import ProcessState
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.operations.topic.describe import Description, TopicFault
from kcluster.rollout import gate_rules, gates, waiting
from kcluster.rollout.gate_rules import ClusterView
from tests.unit.fake_hosts import IDLE, SPARKED, TRIO, Hosts

DEAD = UnreachableError("nobody answers")


def topic(name="orders", replicas=(1, 2, 3), isr=(1, 2, 3)):
    return TopicState(name, (Partition(0, isr[0] if isr else None, replicas, isr),))


def view(broker, *topics, brokers=(1, 2, 3)):
    return ClusterView(broker, frozenset(brokers), 1, {each.name: each for each in topics})


def at_risk(stopping, *topics, min_isr=2, unsafe_partitions=False):
    by_topic, views = {each.name: min_isr for each in topics}, [view(1, *topics)]
    return [str(r) for r in gate_rules.isr_at_risk(stopping, views, by_topic, unsafe_partitions=unsafe_partitions)]


def test_a_broker_may_stop_when_min_isr_replicas_stay_in_sync():
    assert at_risk({1}, topic()) == []
    assert at_risk({3}, topic(isr=(1, 2))) == []
    assert at_risk({1}, topic(replicas=(2, 3), isr=(2,))) == []


@pytest.mark.parametrize(("stopping", "isr"), [({1}, (1, 2)), ({3}, (1,)), ({1}, ()), ({1, 2}, (1, 2, 3))])
def test_a_broker_may_not_stop_when_isr_would_fall_below_min_isr(stopping, isr):
    assert at_risk(stopping, topic(isr=isr)) == ["in-sync replicas would fall below min.insync.replicas: orders-0"]


def test_the_view_of_one_broker_with_a_small_isr_closes_the_gate():
    views = [view(1, topic()), view(2, topic(isr=(1, 2)))]
    assert list(gate_rules.isr_at_risk({1}, views, {"orders": 2}, unsafe_partitions=False))


def test_an_unreadable_min_isr_closes_the_gate():
    assert at_risk({1}, topic(), min_isr=None) == ["no permission to read min.insync.replicas of these topics: orders"]


def test_partitions_without_a_spare_replica_are_refused_unless_the_user_accepts_it():
    single = topic("single", (1,), (1,))
    views, min_isr = [view(1, topic(), single)], {"orders": 2, "single": 1}
    assert "single-0" in str(gate_rules.too_few_replicas({1}, views, min_isr))
    assert "orders-0" not in str(gate_rules.too_few_replicas({1}, views, min_isr))
    assert gate_rules.too_few_replicas({2}, [view(1, single)], {"single": 1}) == []
    one, together = gate_rules.too_few_replicas({1, 2}, views, min_isr)
    assert (one.partitions, one.remedy) == (("single-0",), "give these topics more replicas")
    assert together.detail == "broker-1 and broker-2 together hold too many replicas of these partitions: orders-0"
    assert together.remedy.startswith("stop one broker at a time")
    assert at_risk({1}, single, min_isr=1) == ["in-sync replicas would fall below min.insync.replicas: single-0"]
    assert at_risk({1}, single, min_isr=1, unsafe_partitions=True) == []
    pair = topic("pair", (1, 2), (1,))
    one_left = ["in-sync replicas would fall below min.insync.replicas: pair-0"]
    assert at_risk({1}, pair, unsafe_partitions=True) == one_left, "the other replica may catch up"
    assert at_risk({1}, topic("pair", (1, 2), (1, 2)), unsafe_partitions=True) == []
    assert at_risk({1}, topic(isr=(1, 2)), unsafe_partitions=True), "a partition that could be safe is still waited for"


def test_every_other_broker_must_answer_and_be_registered():
    views = {1: view(1), 2: DEAD, 3: view(3, brokers=(1, 3))}
    assert [str(r) for r in gate_rules.brokers_missing({1}, views)] == ["broker-2 does not answer (nobody answers)"]
    views[2] = view(2)
    assert [str(r) for r in gate_rules.brokers_missing({1}, views)] == [
        "broker-2 is not registered according to broker-3"
    ]
    assert list(gate_rules.brokers_missing({1}, {1: DEAD, 2: view(2), 3: view(3)})) == []
    assert "no broker answers" in str(list(gate_rules.brokers_missing({1}, {1: DEAD})))


def test_a_broker_is_back_when_it_answers_is_registered_and_follows_all_its_partitions():
    whole = topic()
    assert list(gate_rules.not_back(1, view(1, whole), [view(2, whole), view(3, whole)])) == []
    assert "does not answer yet" in str(list(gate_rules.not_back(1, DEAD, [])))
    assert "not registered yet according to broker-2" in str(
        list(gate_rules.not_back(1, view(1), [view(2, brokers=(2, 3))]))
    )
    late = topic(isr=(2, 3))
    assert "broker-1 has not caught up with these partitions: orders-0" in str(
        list(map(str, gate_rules.not_back(1, view(1, whole), [view(2, late)])))
    )
    assert "does not know these partitions" in str(list(gate_rules.not_back(1, view(1), [view(2, whole)])))
    leaderless = TopicState("orders", (Partition(0, None, (1, 2, 3), (1, 2, 3)),))
    assert [str(r) for r in gate_rules.not_back(1, view(1, whole), [view(2, leaderless)])] == [
        "partitions of broker-1 have no leader yet: orders-0"
    ]
    assert list(gate_rules.not_back(1, view(1, topic(isr=(1, 2))), [])) == [], (
        "another broker that is behind is not its fault"
    )


LEADER = {"zk_server_state": "leader", "zk_synced_followers": "2"}
FOLLOWER = {"zk_server_state": "follower"}


def ensemble(stopping, **answers):
    return [str(r) for r in gate_rules.ensemble_without(stopping, answers)]


def test_a_zookeeper_server_may_stop_when_all_others_serve_in_sync_with_one_leader():
    assert ensemble({"a"}, a=FOLLOWER, b=LEADER, c=FOLLOWER) == []
    assert ensemble(set(), a={"zk_server_state": "standalone"}) == []
    assert ensemble({"a"}, a=FOLLOWER, b={**LEADER, "zk_synced_followers": "1"}, c=FOLLOWER) == [
        "1 of 2 followers are in sync with b"
    ]
    assert ensemble({"a"}, a=FOLLOWER, b=FOLLOWER, c=FOLLOWER) == ["no ZooKeeper server leads"]
    assert "2 ZooKeeper servers are leader" in ensemble({"a"}, a=FOLLOWER, b=LEADER, c=LEADER)[0]
    assert ensemble({"a"}, a=FOLLOWER, b={**LEADER, "zk_synced_followers": "1"}, c=DEAD) == [
        "c does not serve (nobody answers)"
    ]


def test_a_lost_majority_of_the_metadata_quorum_is_unsafe():
    servers = tuple(Server(host=Host(f"h{n}", "x"), id=n) for n in (1, 2, 3))
    assert list(gate_rules.majority_lost(Ensemble(servers), {"zookeeper-1"})) == []
    assert "no majority of 3" in str(list(gate_rules.majority_lost(Ensemble(servers), {"zookeeper-1", "zookeeper-2"})))
    (two,) = gate_rules.majority_lost(Ensemble(servers), {"zookeeper-1", "zookeeper-2"})
    assert two.remedy == "stop at most 1 at a time, and start it again before the next"
    (pair,) = gate_rules.majority_lost(Ensemble(servers[:2]), {"zookeeper-1"})
    assert pair.remedy == "3 ZooKeeper servers tolerate the loss of one, 2 do not"
    assert "no majority of 2" in str(list(gate_rules.majority_lost(Ensemble(servers[:2]), {"zookeeper-1"})))
    assert list(gate_rules.majority_lost(Ensemble(servers[:1]), set())) == []


def test_a_controller_may_stop_when_the_others_have_caught_up_with_the_leader():
    voters = tuple(Voter(n, 100, 10_000) for n in (3001, 3002, 3003))
    state, names = QuorumState(3001, 5, 100, voters, ()), {n: f"controller-{n}" for n in (3001, 3002, 3003)}

    def reasons(stopping, state):
        return [str(r) for r in gate_rules.quorum_without(stopping, names, state, 10_000)]

    late = replace(state, voters=(*voters[:2], Voter(3003, 10, 9_999)))
    assert gate_rules.leader_time(late) == 10_000
    assert reasons({"controller-3002"}, state) == []
    assert reasons({"controller-3002"}, late) == ["controller-3003 is behind controller-3001"]
    assert reasons({"controller-3003"}, late) == []
    assert reasons(set(), replace(state, voters=voters[:2])) == ["controller-3003 is not a voter of the quorum"]
    assert reasons(set(), replace(state, leader=-1)) == ["no controller leads"]
    assert reasons(set(), DEAD) == ["nobody answers"]


class Controllers(gates.Gates):
    """A quorum whose state is the next one of a list each time."""

    def _quorum_state(self):
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


def test_a_controller_must_fetch_from_the_leader_after_the_gate_began(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gates, "_FETCH_SECONDS", 0.2)
    hosts = [Host(f"h{n}", "x") for n in (1, 2, 3)]
    quorum = Quorum(tuple(Controller(host=host, id=3001 + n) for n, host in enumerate(hosts)), "id")
    gated = Controllers(replace(TRIO, metadata=quorum))

    def at(*caught_up):
        return QuorumState(3001, 5, 100, tuple(Voter(3001 + n, 100, ms) for n, ms in enumerate(caught_up)), ())

    def reasons(*states):
        object.__setattr__(gated, "states", list(states))
        return [str(reason) for reason in gated.after_start(quorum.controllers[2])]

    behind = ["controller-3003 is behind controller-3001"]
    assert reasons(at(10_000, 9_700, 9_800), at(10_100, 10_050, 9_800)) == behind, "it was restarted meanwhile"
    assert reasons(at(10_000, 9_700, 9_800), at(10_100, 10_050, 9_800), at(10_500, 10_050, 10_300)) == []
    assert reasons(DEAD) == ["nobody answers"]


def test_waiting_shows_each_new_kind_of_reason_once_and_ends_without_reasons():
    answers = [[Reason("a", ("p-0",))], [Reason("a", ("p-1",))], [Reason("b")], []]
    shown: list[str] = []
    assert waiting.wait(lambda: answers.pop(0), shown.append, within=30, subject="x") == ()
    assert shown == ["x: waiting, a: p-0", "x: waiting, b"]


def test_a_gate_that_stays_closed_returns_its_reasons_after_the_timeout():
    assert waiting.wait(lambda: [Reason("never")], lambda line: None, within=0, subject="x") == (Reason("never"),)


def test_unreachable_is_waited_for_but_a_refused_client_configuration_is_raised():
    def unreachable():
        raise DEAD

    def misconfigured():
        raise UsageError("the client configuration is refused")

    assert str(waiting.wait(unreachable, lambda line: None, within=0, subject="x")[0]) == "nobody answers"
    with pytest.raises(UsageError):
        waiting.wait(misconfigured, lambda line: None, within=30, subject="x")


def test_a_long_list_of_partitions_is_short_in_a_line_and_whole_for_machines():
    partitions = tuple(f"t-{n}" for n in range(9))
    reason = Reason("behind", partitions, listing="kcluster topic describe")
    assert str(reason) == "behind: t-0, t-1, t-2, t-3, t-4 and 4 more"
    assert reason.detail == f"{reason} (9; all of them: kcluster topic describe, or -o json)"
    assert lists([reason]) == {"behind": partitions}
    short = Reason("behind", partitions[:5])
    assert short.detail == str(short) == "behind: t-0, t-1, t-2, t-3, t-4"


def test_reasons_of_several_brokers_are_one_line_and_many_reasons_are_counted():
    assert details([Reason("no spare", ("b-0", "a-0")), Reason("no spare", ("a-0", "c-0"))]) == [
        "no spare: a-0, b-0, c-0"
    ]
    silent = [Reason(f"broker-{number} does not answer") for number in range(60)]
    assert details(silent)[9:] == ["broker-9 does not answer", "and 50 more reasons (all of them: -o json)"]
    assert len(lists(silent)) == 60


@pytest.mark.parametrize("isr", [(1, 2), (1,)])
def test_the_command_that_a_closed_gate_names_shows_its_partitions(isr):
    topics = {f"t{number}": TopicState(f"t{number}", (Partition(0, 1, (1, 2), isr),), min_isr=2) for number in range(6)}
    view = ClusterView(1, frozenset((1, 2)), 1, topics)
    (risky,) = gate_rules.isr_at_risk({1}, [view], dict.fromkeys(topics, 2), unsafe_partitions=False)
    (hopeless,) = gate_rules.too_few_replicas({1}, [view], dict.fromkeys(topics, 2))
    assert "kcluster topic describe -i INV --at-min-isr --under-min-isr" in risky.detail
    assert risky.listing == hopeless.listing
    shown = Description(list(topics.values()), {}, {}, [TopicFault.AT_MIN_ISR, TopicFault.UNDER_MIN_ISR]).data()
    assert {f"{topic['name']}-{part['partition']}" for topic in shown for part in topic["partitions"]} == set(
        risky.partitions
    )


def test_without_a_zookeeper_leader_that_is_the_reason_why_no_spark_master_leads():
    nobody = Host("h1", "127.0.0.1")
    servers = (Server(host=nobody, id=1, client_port=1), Server(host=nobody, id=2, client_port=1))
    master = SparkMaster(host=nobody, port=1, web_port=1)
    engine = SparkCluster("c", (master,), (), keepers="127.0.0.1:1")
    cluster = replace(TRIO, metadata=Ensemble(servers), engine=engine)
    assert [reason.text for reason in gates.Gates(cluster).after_start(master)] == ["no ZooKeeper server leads"]
    alone = gates.Gates(replace(cluster, engine=replace(engine, keepers="")))
    expected = ["spark-master-h1 does not answer yet", "no Spark master leads"]
    assert [reason.text for reason in alone.after_start(master)] == expected


HERE = Host("h1", "127.0.0.1")
AWAY = replace(
    TRIO,
    metadata=Ensemble(tuple(replace(s, host=HERE, client_port=1, election_port=1) for s in TRIO.metadata.servers)),
    brokers=tuple(
        replace(broker, listeners=(replace(broker.internal, advertised_host="127.0.0.1", advertised_port=1),))
        for broker in TRIO.brokers
    ),
)
"""A cluster whose ports this machine does not reach."""


def test_a_node_with_a_process_that_this_machine_cannot_reach_is_gated():
    gated = gates.Gates(AWAY, hosts=Hosts())
    server, broker = AWAY.metadata.servers[0], AWAY.brokers[0]
    assert "no majority of 3" in str(gated.unsafe(AWAY.metadata.servers[:2]))
    assert "zookeeper-2 does not serve" in str(gated.before_stop([server]))
    assert "no broker answers" in str(gated.before_stop([broker]))
    idle = Hosts({("h1", unit): IDLE for unit in ("kafka", "zookeeper")})
    assert gates.Gates(AWAY, hosts=idle).before_stop([server, broker]) == (), "they are dead"


def test_a_node_is_asked_where_its_process_was_started():
    started = (
        "listeners=INNER://:1\nadvertised.listeners=INNER://127.0.0.7:1\nlistener.security.protocol.map=INNER:SSL\n"
    )
    gated = gates.Gates(AWAY, hosts=Hosts(started_with={"/etc/kafka/server.properties": started}))
    assert "no broker answers at 127.0.0.7:1" in str(gated.before_stop([AWAY.brokers[0]]))
    assert gated.running.process(AWAY.brokers[0]) is ProcessState.LISTENING


def test_a_spark_worker_has_no_gate():
    nobody = SparkWorker(host=Host("h1", "127.0.0.1"), port=1)
    assert gates.Gates(SPARKED).before_stop([nobody]) == gates.Gates(SPARKED).unsafe([nobody]) == ()


def test_an_in_sync_follower_that_is_cut_off_does_not_count():
    orders = topic(isr=(1, 2, 3))
    seen = view(1, orders)
    assert gate_rules.fetches({1}, [seen]) == {(2, 1), (3, 1)}
    silences = {(3, 1): 12.3}
    (told,) = gate_rules.silent(silences)
    assert str(told) == "broker-3 received nothing for 12 s from broker-1, which it must follow"
    assert "no connection to broker-1" in str(*gate_rules.silent({(3, 1): None}))
    without = gate_rules.without_silent(seen, silences)
    assert without.topics["orders"].partitions[0].isr == (1, 2)
    assert gate_rules.without_silent(seen, {}) is seen
    assert list(gate_rules.isr_at_risk({1}, [without], {"orders": 2}, unsafe_partitions=False))
