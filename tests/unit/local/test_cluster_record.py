from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from kcluster import local
from kcluster.clients.processes import Process
from kcluster.errors import UsageError
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, StartedProcess, UpOrigin
from kcluster.model.client import Client
from kcluster.model.node import Layer
from kcluster.model.topic import Topic


def cluster(*, kraft: bool = False):
    made = topology.cluster_of("c", UpOrigin(brokers=2, kraft=kraft), "AAAAAAAAAAAAAAAAAAAAAA")
    broker = replace(
        made.brokers[0],
        layers=(Layer("cluster", {"log.retention.hours": "1"}),),
        environment={"JMX_PORT": "9999"},
        rack="r1",
        data_dirs=("/a", "/b"),
    )
    topics = (Topic("t", 3, 2, {"retention.ms": "1"}),)
    client = Client({"ssl.key.password": "hush"}, "kafka_client_properties")
    return replace(made, brokers=(broker, made.brokers[1]), topics=topics, client=client)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path / "local"


def remember(home: Path, name: str) -> ClusterRecord:
    record = ClusterRecord(home / name, replace(cluster(), name=name))
    record.save()
    return record


@pytest.mark.parametrize("kraft", [False, True])
def test_a_record_is_read_back_as_it_was(tmp_path, kraft):
    started = {"broker-1": StartedProcess(Process(12, 345), "abc", "/x.new")}
    record = ClusterRecord(
        tmp_path, cluster(kraft=kraft), UpOrigin("inv", 2, 3, kraft), {"broker-1 internal": 9}, "/r", started
    )
    record.save()
    assert ClusterRecord.load(tmp_path) == record
    assert stat.S_IMODE(ClusterRecord.at(tmp_path).stat().st_mode) == 0o600


def test_a_record_of_before_there_were_clients_is_read(tmp_path):
    ClusterRecord(tmp_path, cluster()).save()
    file = ClusterRecord.at(tmp_path)
    data = json.loads(file.read_text())
    del data["cluster"]["client"]
    file.write_text(json.dumps(data))
    found = ClusterRecord.load(tmp_path)
    assert found
    assert found.cluster.client == Client()


def test_a_folder_without_a_record_has_none(tmp_path):
    assert ClusterRecord.load(tmp_path / "nothing") is None


def test_a_process_that_has_the_pid_but_not_the_start_time_is_another_one(tmp_path):
    import os

    record = ClusterRecord(tmp_path, cluster(), started={"broker-1": StartedProcess(Process(os.getpid(), 1), "")})
    assert not record.runs("broker-1")
    assert record.living() == {}


def test_the_only_cluster_is_the_default(home):
    with pytest.raises(UsageError, match="there is no local cluster") as none:
        local.only()
    assert none.value.resolution == "start one: kcluster up"
    remember(home, "one")
    assert local.only() == "one"
    remember(home, "two")
    with pytest.raises(UsageError, match="one, two"):
        local.only()


def test_a_cluster_is_read_as_it_was_placed(home):
    assert local.running(remember(home, "one").cluster.name).bootstrap == "127.0.0.1:9092,127.0.0.1:9092"


def test_an_unknown_name_gets_the_nearest_ones(home):
    remember(home, "staging")
    with pytest.raises(UsageError, match="no local cluster stagin; there is staging"):
        local.running("stagin")
