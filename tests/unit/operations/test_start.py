from __future__ import annotations

from contextlib import nullcontext

import pytest

from kcluster.errors import ApplyError, LockedError, RefusedError
from kcluster.model.reason import Reason
from kcluster.operations import start
from kcluster.rollout import roll
from tests.unit.fake_hosts import DEAD, IDLE, MISSING, Hosts, LosingLock, OpenGates


@pytest.fixture(autouse=True)
def no_lock_on_hosts(monkeypatch, tmp_path):
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    locked = start.locked
    monkeypatch.setattr(start, "locked", lambda cluster, hosts, words: locked(cluster, None, words))


def started(gates, hosts, *names):
    return start.carry_out(gates, start.plan(gates, names, hosts), hosts, lambda line: None, ["kcluster", "start"])


def test_only_stopped_nodes_are_started_metadata_quorum_first():
    hosts = Hosts({("h1", "kafka"): IDLE, ("h2", "zookeeper"): IDLE})
    assert started(OpenGates(), hosts).started == ("zookeeper-2", "broker-1")
    assert hosts.orders == [("start", "zookeeper", "h2"), ("start", "kafka", "h1")]
    assert started(OpenGates(), Hosts()).started == ()


def test_a_node_that_is_not_installed_is_refused_before_anything_starts():
    hosts = Hosts({("h1", "kafka"): MISSING, ("h2", "kafka"): IDLE})
    with pytest.raises(RefusedError, match="not installed: broker-1 on h1") as refused:
        started(OpenGates(), hosts)
    assert "provision" in refused.value.resolution
    assert hosts.orders == []


def test_a_node_that_dies_again_and_again_is_diagnosed(monkeypatch):
    monkeypatch.setattr(roll, "_INSPECT_SECONDS", 0.0)
    hosts = Hosts({("h3", "kafka"): DEAD}, log="java.io.IOException: No space left on device\n")
    gates = OpenGates(timeout=30.0, late={"broker-3": [Reason("broker-3 does not answer yet")]})
    with pytest.raises(ApplyError, match="broker-3 on h3 does not start: the disk is full"):
        started(gates, hosts)


def test_a_lost_lock_ends_the_start(monkeypatch):
    monkeypatch.setattr(start, "locked", lambda cluster, hosts, words: nullcontext(LosingLock(2)))
    hosts = Hosts({("h1", "zookeeper"): IDLE, ("h1", "kafka"): IDLE})
    with pytest.raises(LockedError):
        started(OpenGates(), hosts, "h1")
    assert hosts.orders == [("start", "zookeeper", "h1")]
