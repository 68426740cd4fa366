from __future__ import annotations

import time
from pathlib import Path

import pytest

from kcluster.clients import processes
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, StartedProcess, UpOrigin
from kcluster.local.shutdown import stop

ORDERLY = "trap 'echo {name} >>order; exit' TERM; echo >{name}; while :; do sleep 0.02; done"
STUBBORN = "trap '' TERM; echo >{name}; while :; do sleep 0.02; done"


@pytest.fixture
def run(tmp_path: Path):
    """Make a record whose nodes are shell scripts that have got as far as their trap."""

    def start(**scripts: str) -> ClusterRecord:
        started = {}
        for word, script in scripts.items():
            name = word.replace("_", "-")
            line = ["/bin/sh", "-c", script.format(name=name)]
            process = processes.start(line, environment={}, directory=tmp_path, output=tmp_path / "out")
            started[name] = StartedProcess(process, "", str(tmp_path / f"{name.partition('-')[0]}.1.new"))
            deadline = time.monotonic() + 5
            while not (tmp_path / name).exists() and time.monotonic() < deadline:
                time.sleep(0.01)
        return ClusterRecord(tmp_path, topology.cluster_of("c", UpOrigin(brokers=1, keepers=1), ""), started=started)

    return start


def test_brokers_stop_before_the_keepers_of_the_metadata(run, tmp_path):
    told: list[str] = []
    record = run(zookeeper_1=ORDERLY, broker_1=ORDERLY)
    stopped = stop(record, record.started, told.append, ClusterRecord.save)
    assert (tmp_path / "order").read_text().split() == ["broker-1", "zookeeper-1"]
    assert stopped.started == {}
    assert ClusterRecord.load(tmp_path) == stopped
    assert told == []


def test_one_that_does_not_stop_is_killed_and_that_is_told(run):
    told: list[str] = []
    record = run(broker_1=STUBBORN)
    stop(record, record.started, told.append, ClusterRecord.save, patience=0.2)
    assert not record.runs("broker-1")
    assert told == [f"broker-1 did not stop within 0 s: killing pid {record.started['broker-1'].process.pid}"]


def test_an_archive_is_kept_of_an_orderly_stop_only(run, tmp_path):
    archive = tmp_path / "broker.1.new"
    archive.write_text("half of it")
    record = run(broker_1=ORDERLY)
    stop(record, record.started, lambda text: None, ClusterRecord.save, orderly=False)
    assert not archive.exists()
    archive.write_text("all of it")
    record = run(broker_1=ORDERLY)
    stop(record, record.started, lambda text: None, ClusterRecord.save)
    assert (tmp_path / "broker.jsa").read_text() == "all of it"
