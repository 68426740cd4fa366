from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from kcluster.errors import RefusedError
from kcluster.local.up_request import UpRequest
from kcluster.operations import up
from kcluster.operations.up import UpReport

SMALL = UpRequest(name="s", brokers=1, zookeepers=1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def test_a_plan_names_ports_and_directories_and_writes_nothing(home):
    plan = up.plan(SMALL)
    assert [(row.node, row.action) for row in plan.nodes] == [("zookeeper-1", "start"), ("broker-1", "start")]
    assert plan.nodes[1].directory == str(home / "local/s/nodes/broker-1")
    assert plan.nodes[1].ports.startswith("internal ")
    assert list(home.iterdir()) == []


def test_a_plan_passes_over_a_port_that_somebody_holds():
    try:
        with socket.create_server(("127.0.0.1", 9092)):
            assert up.plan(SMALL).nodes[1].ports != "internal 9092"
    except OSError:
        assert up.plan(SMALL).nodes[1].ports != "internal 9092"


def test_without_java_nothing_is_begun(home, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(RefusedError, match=r"Java is not installed; Kafka 3\.9\.2 needs Java 11 or newer"):
        up.up(SMALL, lambda text: None)
    assert list(home.iterdir()) == []


def test_what_waits_for_a_restart_and_what_is_left_over_is_told():
    told = [
        block if isinstance(block, str) else block.text
        for block in UpReport("c", "127.0.0.1:9092", ("broker-1",), (), ("broker-1",), ("broker-9",), 0.1).view()
    ]
    assert told[0] == "all nodes are running, nothing was changed"
    assert "restart needed for changed settings of broker-1: kcluster down -n c && kcluster up -n c" in told[1]
    assert "still running: broker-9" in told[2]
