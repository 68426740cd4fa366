from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest

from kcluster.config import log_files
from kcluster.errors import ApplyError
from kcluster.model import failure_causes
from kcluster.model.spark_cluster import SparkMaster, SparkWorker
from kcluster.rollout import diagnosis
from kcluster.rollout.diagnosis import StartMark, UnitState
from tests.unit.fake_hosts import BROKERS, DEAD, MISSING, RUNNING, SERVERS, Hosts

ADDRESS = "java.net.BindException: Address already in use"


def test_each_host_is_asked_once_for_the_units_of_all_its_nodes():
    hosts = Hosts({("h1", "kafka"): DEAD, ("h2", "zookeeper"): MISSING})
    found = diagnosis.units([*SERVERS[:2], *BROKERS[:2]], hosts)
    assert {name: unit.active for name, unit in found.items()} == {
        "zookeeper-1": "active",
        "broker-1": "activating",
        "zookeeper-2": "missing",
        "broker-2": "active",
    }
    assert found["broker-1"].died
    assert not found["broker-2"].died


def test_a_unit_is_one_line():
    assert str(UnitState("active", "running", "success")) == "active (running)"
    tired = UnitState("activating", "auto-restart", "exit-code", "1", 3)
    assert str(tired) == "activating (auto-restart), its last process ended with 1 (exit-code), 3 restarts by systemd"


def test_a_restart_resets_earlier_failures_and_marks_where_the_start_begins():
    hosts = Hosts()
    (began,) = diagnosis.command("restart", [BROKERS[0]], hosts, within=1)
    assert hosts.orders == [("restart", "kafka", "h1")]
    assert began == StartMark(BROKERS[0], 1700000000, 120)
    assert "systemctl reset-failed kafka" in diagnosis.systemctl_script("restart", BROKERS[0])
    assert "/var/log/kafka/server.log" in diagnosis.systemctl_script("restart", BROKERS[0])


def test_only_a_restart_lets_a_unit_start_the_release_that_was_installed_last(tmp_path):
    for release in ("kafka_2.13-3.9.1", "kafka_2.13-3.9.2"):
        (tmp_path / release).mkdir()
    (tmp_path / "current").symlink_to("kafka_2.13-3.9.2")
    (tmp_path / "current-kafka").symlink_to("kafka_2.13-3.9.1")
    (tmp_path / ".current-kafka.new").symlink_to("left by a power cut")
    broker = replace(BROKERS[0], places=replace(BROKERS[0].places, install_dir=str(tmp_path)))
    assert "current" not in diagnosis.systemctl_script("start", broker)
    assert diagnosis.activation(broker) in diagnosis.systemctl_script("restart", broker)

    subprocess.run(["sh", "-c", diagnosis.activation(broker)], check=True)
    assert (tmp_path / "current-kafka").readlink() == (tmp_path / "current").readlink()
    (tmp_path / "current").unlink()
    failed = subprocess.run(["sh", "-c", f"{diagnosis.activation(broker)}echo restarted"], capture_output=True)
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current-kafka", "kafka_2.13-3.9.1", "kafka_2.13-3.9.2"]


def test_a_port_in_use_is_named_with_its_process():
    sockets = 'LISTEN 0 5 0.0.0.0:9092 0.0.0.0:* users:(("python3",pid=77,fd=3))\n'
    hosts = Hosts({("h1", "kafka"): DEAD}, log=f"{ADDRESS}\nlast words\n", sockets=sockets)
    found = diagnosis.diagnose(StartMark(BROKERS[0]), hosts)
    assert found.text == "a port it needs is in use (9092 is used by python3, pid 77)"
    assert found.lines[0].startswith("unit kafka on h1: activating (auto-restart)")
    assert found.lines[1:] == [ADDRESS, "last words"]
    assert "ss -ltnp" in found.resolution


def test_the_line_with_the_cause_is_shown_also_when_many_lines_follow_it():
    hosts = Hosts(console=f"{ADDRESS}\n", log="\n".join(f"line {n}" for n in range(50)) + "\n")
    lines = diagnosis.diagnose(StartMark(BROKERS[0]), hosts).lines
    assert ADDRESS in lines
    assert lines[-1] == "line 49"
    assert len(lines) == 13


def test_the_cause_of_an_earlier_attempt_is_found_before_the_lines_of_the_next_ones(tmp_path, monkeypatch):
    for name in ("systemctl", "journalctl", "ss"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    node = replace(BROKERS[0], places=replace(BROKERS[0].places, log_dir=str(tmp_path)))
    log = tmp_path / "server.log"
    log.write_text("of another start: KeeperErrorCode = NodeExists\n")
    asked = diagnosis.diagnosis_script(StartMark(node, log_size=log.stat().st_size))
    with log.open("a") as out:
        out.writelines(["Address already in use\n", *(f"a setting: {number}\n" for number in range(1500))])
    told = subprocess.run(["sh", "-s"], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    cause, line = failure_causes.cause_of(told)
    assert (cause is failure_causes.PORT_IN_USE, line) == (True, "Address already in use")


def test_without_a_known_cause_the_log_is_named():
    found = diagnosis.diagnose(StartMark(SERVERS[0]), Hosts(log="all is well\n"))
    assert found.text == ""
    assert "/var/log/kafka/zookeeper.log" in found.resolution
    assert RUNNING["ActiveState"] in found.lines[0]


def test_a_failed_systemctl_command_is_an_error_with_its_cause():
    master = SparkMaster(host=BROKERS[0].host)
    hosts = Hosts(refuses="Job failed.\n", console="no ZooKeeper server serves: 10.0.0.1/2181\n")
    with pytest.raises(ApplyError) as refused:
        diagnosis.command("restart", [master], hosts, within=1)
    said = "spark-master-h1 on h1: systemctl restart spark-master ended with 1: it could not reach ZooKeeper"
    assert refused.value.message == said
    assert refused.value.details.splitlines()[0] == "Job failed."
    assert "kcluster status" in refused.value.resolution
    with pytest.raises(ApplyError) as unknown:
        diagnosis.command("start", [master], Hosts(refuses="Unit spark-master.service is masked.\n"), within=1)
    assert unknown.value.resolution == "ssh h1 systemctl status spark-master"


def test_the_ports_and_the_log_of_a_spark_worker_are_its_own():
    worker = SparkWorker(host=BROKERS[1].host)
    sockets = 'LISTEN 0 5 0.0.0.0:8081 0.0.0.0:* users:(("tomcat",pid=9,fd=3))\n'
    found = diagnosis.diagnose(StartMark(worker), Hosts(console=f"{ADDRESS}\n", sockets=sockets))
    assert found.text == "a port it needs is in use (8081 is used by tomcat, pid 9)"
    assert log_files.main_file(worker) == "/var/log/spark/spark-worker.log"
