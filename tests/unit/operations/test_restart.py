from __future__ import annotations

import pytest

from kcluster import journal
from kcluster.errors import RefusedError
from kcluster.model.reason import Reason
from kcluster.operations import restart
from kcluster.rollout.order import ONE_BY_ONE, AtOnce
from tests.unit.fake_hosts import MISSING, Hosts, OpenGates
from tests.unit.fake_snapshots import SERVERS, SIX, snapshot


def test_a_restart_holds_the_lock_and_writes_its_journal(monkeypatch, tmp_path):
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    locked = restart.locked
    monkeypatch.setattr(restart, "locked", lambda cluster, hosts, words: locked(cluster, None, words))
    gates, hosts = OpenGates(), Hosts()
    nodes = restart.plan(gates, ["h2"], hosts)
    report = restart.carry_out(gates, nodes, hosts, lambda line: None, ["kcluster", "restart", "h2"])
    assert [step.node for step in report.steps] == ["zookeeper-2", "broker-2"]
    (run,) = journal.runs("trio")
    assert run.outcome == "done"
    assert [note["what"] for note in run.notes if note["status"] == "ok"] == ["restart zookeeper-2", "restart broker-2"]


def test_the_sets_of_a_roll_are_foreseen_from_one_moment():
    class Moment(OpenGates):
        def snapshot(self, nodes, candidates):
            return snapshot()

    def names(turns):
        return [[node.name for node in turn] for turn in turns]

    gates = Moment(leading=("broker-2",))
    turns = names(restart.foreseen(gates, [SERVERS[0], *SIX], AtOnce(None)))
    assert turns == [["zookeeper-1"], ["broker-1"], ["broker-3", "broker-4"], ["broker-5", "broker-6"], ["broker-2"]]
    pair = names(restart.foreseen(Moment(leading=()), SIX[:3], AtOnce(2)))
    assert pair == [["broker-1", "broker-2"], ["broker-3"]]
    assert names(restart.foreseen(OpenGates(), SIX[:2], ONE_BY_ONE)) == [["broker-1"], ["broker-2"]]


def test_unsafe_and_missing_nodes_are_refused_before_the_question():
    with pytest.raises(RefusedError, match="rolling restart refused: no copy to spare"):
        restart.plan(OpenGates(hopeless=(Reason("no copy to spare"),)), [], Hosts())
    with pytest.raises(RefusedError, match="not installed"):
        restart.plan(OpenGates(), [], Hosts({("h1", "kafka"): MISSING}))
