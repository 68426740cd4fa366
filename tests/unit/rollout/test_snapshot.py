"""One picture of a cluster, judged for several sets of nodes."""

from __future__ import annotations

from dataclasses import replace

from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import UnreachableError
from kcluster.model.ensemble import Ensemble
from kcluster.model.reason import Reason
from kcluster.model.running import ProcessState, Running
from kcluster.rollout.gate_rules import ClusterView
from kcluster.rollout.order import Turn
from kcluster.rollout.snapshot import QuorumAnswers, SafeSet, distinct
from tests.unit.fake_snapshots import CLUSTER, MONITORS, ORDERS, SERVERS, SIX, partition, snapshot


def grown(taken, *nodes, most=None):
    others = [node for node in (*SERVERS, *SIX) if node not in nodes and node.kind in {each.kind for each in nodes}]
    return [group[0].name for group in taken.grown(nodes, [[node] for node in others], most)]


def test_a_set_grows_by_all_that_may_stop_with_it_and_is_judged_as_a_whole():
    taken = snapshot()
    assert grown(taken, SIX[0]) == ["broker-2"]
    assert grown(taken, SIX[2]) == ["broker-2"]
    assert grown(taken, SIX[0], most=0) == []
    assert taken.reasons(SIX[:2]) == ()
    assert "orders-0" in str(taken.reasons([SIX[0], SIX[2]]))
    assert "broker-1 and broker-3 together hold too many replicas" in str(taken.hopeless([SIX[0], SIX[2]]))


def test_the_controller_goes_with_a_turn_only_when_all_others_do():
    def together(turn, others=None):
        return [node.name for node in snapshot().safe_set(turn, others).nodes]

    assert together(Turn(SIX[0], (), SIX[1])) == ["broker-1", "broker-2"]
    assert together(Turn(SIX[0], (), SIX[2])) == ["broker-1"]
    assert together(Turn(SIX[0], (SIX[2],), SIX[1])) == ["broker-1"], "broker-3 would come after the controller"
    assert together(Turn(SIX[0], (SIX[1], SIX[5])), 1) == ["broker-1", "broker-2"]


def test_who_could_join_if_all_were_in_sync_is_late():
    turn, cut_off = Turn(SIX[0], (SIX[1], SIX[2])), snapshot(silences={(6, 2): 9.0})
    assert cut_off.safe_set(turn, None) == SafeSet([SIX[0]], [SIX[1]], ())
    assert cut_off.safe_set(turn, 0).late == []
    assert snapshot().safe_set(turn, None) == SafeSet(list(SIX[:2]), [], ())


def test_no_set_grows_while_its_first_node_may_not_stop():
    silent = {**snapshot().views, 6: UnreachableError("nobody answers")}
    taken = snapshot(views=silent)
    assert "broker-6 does not answer" in str(taken.reasons([SIX[0]]))
    assert grown(taken, SIX[0]) == []


def test_a_follower_that_receives_nothing_keeps_its_partners_out_of_the_set():
    cut_off = snapshot(silences={(6, 2): 9.0})
    assert grown(cut_off, SIX[0]) == []
    assert cut_off.reasons([SIX[0]]) == (), "no partition of broker-1 relies on broker-6"
    assert "broker-6 received nothing for 9 s from broker-2" in str(cut_off.reasons([SIX[1]]))


def test_a_node_that_starts_is_not_added():
    assert grown(snapshot(starting={"broker-2": Reason("broker-2 is starting")}), SIX[0]) == []


def test_topics_of_others_whose_min_isr_may_not_be_read_close_no_gate():
    more = TopicState("secret", (partition(0, 2, 4, 6),))
    known = ClusterView(1, frozenset(range(1, 7)), 2, {"orders": ORDERS, "secret": more})
    taken = snapshot(views=dict.fromkeys(range(1, 7), known), min_isr={"orders": 2, "secret": None})
    assert taken.reasons([SIX[0]]) == ()
    assert "no permission to read min.insync.replicas of these topics: secret" in map(str, taken.reasons([SIX[1]]))
    assert grown(taken, SIX[0]) == []


def test_servers_are_added_while_a_majority_stays():
    assert grown(snapshot(), SERVERS[1]) == ["zookeeper-1"]
    late = {**MONITORS, "zookeeper-1": {"zk_server_state": "leader", "zk_synced_followers": "3"}}
    assert grown(snapshot(quorum=QuorumAnswers(CLUSTER.metadata, late)), SERVERS[1]) == []


def test_nodes_without_a_process_go_together_and_nothing_else_with_them():
    gone = {"broker-1": ProcessState.NONE, "broker-3": ProcessState.NONE}
    silent = UnreachableError("nobody answers")
    taken = snapshot(running=Running(CLUSTER, gone), views={**snapshot().views, 1: silent, 3: silent})
    assert taken.reasons([SIX[0], SIX[2]]) == ()
    assert [group[0].name for group in taken.grown([SIX[0]], [[SIX[2]]])] == ["broker-3"]
    assert grown(taken, SIX[0]) == [], "the others miss these two"


def test_views_that_agree_are_judged_once():
    views = snapshot().views
    other = replace(views[6], topics={"orders": replace(ORDERS, partitions=ORDERS.partitions[:1])})
    assert distinct([*views.values(), other, views[1]]) == [views[1], other]


def test_of_two_servers_that_get_a_third_one_may_be_out_until_its_restart():
    """The third may lead, which the one that was not restarted does not know."""
    three = SERVERS[:3]
    out = {
        "zookeeper-1": UnreachableError("no quorum"),
        "zookeeper-2": {"zk_server_state": "follower"},
        "zookeeper-3": {"zk_server_state": "leader", "zk_synced_followers": "1"},
    }
    joining = QuorumAnswers(Ensemble(three, too_few=2), monitors=out)
    assert joining.complete(["zookeeper-2"]) == []
    assert "zookeeper-1 does not serve" in str(joining.complete(["zookeeper-1"]))
    assert "zookeeper-1 does not serve" in str(QuorumAnswers(Ensemble(three), monitors=out).complete(["zookeeper-2"]))
    assert "zookeeper-1 does not serve" in str(joining.without(["zookeeper-2"]))
    second = QuorumAnswers(Ensemble(three[:2], too_few=1), monitors={"zookeeper-1": {"zk_server_state": "leader"}})
    assert second.without(["zookeeper-1"]) == []
