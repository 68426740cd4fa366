from __future__ import annotations

from contextlib import nullcontext

import pytest

from kcluster.errors import LockedError, RefusedError, UsageError
from kcluster.model.reason import Reason
from kcluster.operations import stop
from tests.unit.fake_hosts import IDLE, RUNNING, SPARKED, Hosts, LosingLock, OpenGates

WORDS = ["kcluster", "stop"]


@pytest.fixture(autouse=True)
def no_lock_on_hosts(monkeypatch, tmp_path):
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    locked = stop.locked
    monkeypatch.setattr(stop, "locked", lambda cluster, hosts, words: locked(cluster, None, words))


def stopped(gates, hosts, *names):
    return stop.carry_out(gates, stop.plan(gates, names, hosts), hosts, lambda line: None, WORDS)


def test_a_whole_cluster_stops_its_brokers_first_and_without_gates():
    hosts, gates = Hosts(), OpenGates(closed={"broker-1": [Reason("alone")]})
    done = stopped(gates, hosts)
    assert [unit for _, unit, _ in hosts.orders] == ["kafka"] * 3 + ["zookeeper"] * 3
    assert len(done.stopped) == 6
    assert "takes the whole cluster trio down" in stop.plan(gates, [], hosts).question("trio")


def test_single_nodes_stop_only_when_their_gate_is_open():
    hosts = Hosts()
    gates = OpenGates(closed={"broker-1": [Reason("too few copies")]})
    with pytest.raises(RefusedError, match="too few copies"):
        stopped(gates, hosts, "h1")
    assert hosts.orders == []
    assert stopped(OpenGates(), hosts, "h1").stopped == ("zookeeper-1", "broker-1")
    assert stop.plan(gates, ["h1"], hosts).question("trio") == "Stop zookeeper-1, broker-1 of trio?"


def test_stopped_nodes_are_left_alone_and_a_kill_is_reported():
    killed = Hosts({("h2", "kafka"): {**RUNNING, "Result": "timeout"}})
    hosts = Hosts({("h1", "kafka"): IDLE})
    assert stopped(OpenGates(), hosts, "h1").stopped == ("zookeeper-1",)
    assert stopped(OpenGates(), killed, "broker-2").killed == ("broker-2",)


def test_an_unknown_host_is_refused_with_the_nearest_names():
    with pytest.raises(UsageError, match="trio has no node or host broker-9") as refused:
        stop.plan(OpenGates(), ["broker-9"], Hosts())
    assert "broker-1" in refused.value.resolution


def test_a_lost_lock_ends_the_stop(monkeypatch):
    monkeypatch.setattr(stop, "locked", lambda cluster, hosts, words: nullcontext(LosingLock(2)))
    hosts = Hosts()
    with pytest.raises(LockedError):
        stopped(OpenGates(), hosts, "h1")
    assert hosts.orders == [("stop", "kafka", "h1")]


def test_spark_stops_before_kafka_and_its_workers_before_its_masters():
    hosts = Hosts()
    stopped(OpenGates(cluster=SPARKED), hosts)
    assert list(dict.fromkeys(unit for _, unit, _ in hosts.orders)) == [
        "spark-worker",
        "spark-master",
        "kafka",
        "zookeeper",
    ]
