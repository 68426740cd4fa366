"""`kcluster up` with real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from kcluster.model.release import Release
from kcluster.releases import cache
from tests.children import child

SMALL = ("--brokers", "1", "--zookeepers", "1")


def nodes(cluster, name: str = "own") -> dict[str, dict]:
    told = cluster.run("status", "-n", name, "-o", "json", check=False).stdout
    return {node["node"]: node for node in json.loads(told)["nodes"]}


def until(condition: Callable[[], bool], within: float = 30.0) -> bool:
    deadline = time.monotonic() + within
    while not (held := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return held


def processes_below(home: Path) -> list[int]:
    """Every process that has something of that folder on its command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(home) in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def test_a_cluster_runs_on_after_the_command_and_serves(own):
    cluster = own(*SMALL)
    assert {node["state"] for node in nodes(cluster).values()} == {"running"}
    cluster.run("topic", "create", "greetings", "--partitions", "1", "--replication-factor", "1", "-n", "own")
    assert "greetings" in cluster.run("topic", "list", "-n", "own").stdout


def test_a_node_is_in_a_session_of_its_own_without_a_terminal(own):
    cluster = own(*SMALL)
    for node in nodes(cluster).values():
        assert os.getsid(node["pid"]) == node["pid"]
        assert os.readlink(f"/proc/{node['pid']}/fd/0") == os.devnull


def test_a_second_up_changes_nothing(own):
    cluster = own(*SMALL)
    before = nodes(cluster)
    done = cluster.run("up", "-n", "own")
    assert "all nodes are running" in done.stdout
    after = nodes(cluster)
    assert [(n["pid"], n["address"]) for n in after.values()] == [(n["pid"], n["address"]) for n in before.values()]


def test_a_second_up_repairs_a_dead_broker_and_touches_no_other(own):
    cluster = own("--brokers", "2", "--zookeepers", "1")
    before = nodes(cluster)
    os.kill(before["broker-2"]["pid"], signal.SIGKILL)
    assert until(lambda: nodes(cluster)["broker-2"]["state"] == "crashed")
    assert cluster.run("status", "-n", "own", check=False).returncode == 4
    done = cluster.run("up", "-n", "own", "-o", "json")
    assert json.loads(done.stdout)["started"] == ["broker-2"]
    after = nodes(cluster)
    assert after["broker-2"]["state"] == "running"
    assert after["broker-2"]["address"] == before["broker-2"]["address"]
    assert after["broker-1"]["pid"] == before["broker-1"]["pid"]
    assert after["zookeeper-1"]["pid"] == before["zookeeper-1"]["pid"]


def test_two_clusters_live_side_by_side_and_down_ends_only_one(own):
    cluster = own(*SMALL)
    try:
        cluster.run("up", "--name", "other", *SMALL)
        addresses = [node["address"] for name in ("own", "other") for node in nodes(cluster, name).values()]
        assert len(set(addresses)) == 4
        told = cluster.run("status", "-o", "json").stdout
        assert {line["name"]: line["running"] for line in json.loads(told)} == {"own": 2, "other": 2}
    finally:
        cluster.run("down", "-n", "other")
    assert {node["state"] for node in nodes(cluster).values()} == {"running"}


def test_a_remembered_port_that_is_taken_is_named_with_its_holder(own):
    cluster = own(*SMALL)
    port = int(nodes(cluster)["broker-1"]["address"].rpartition(":")[2])
    cluster.run("down", "-n", "own")
    with socket.create_server(("127.0.0.1", port)):
        done = cluster.run("up", "-n", "own", check=False)
    assert done.returncode == 4
    assert f"port {port} of broker-1 (internal) is used by" in done.stderr
    assert f"(pid {os.getpid()})" in done.stderr
    assert {node["state"] for node in nodes(cluster).values()} == {"stopped"}


def test_ctrl_c_leaves_nothing_running(own, tmp_path):
    cluster = own(*SMALL)
    cluster.run("down", "-n", "own")
    with child(cluster.command("up", "-n", "own"), env=cluster.env, stderr=subprocess.PIPE, text=True) as up:
        assert until(lambda: len(processes_below(cluster.home)) == 2)
        up.send_signal(signal.SIGINT)
        _, said = up.communicate(timeout=60)
    assert up.returncode == 130
    assert "Traceback" not in said
    assert processes_below(cluster.home) == []
    assert {node["state"] for node in nodes(cluster).values()} == {"stopped"}


def test_a_node_that_dies_while_it_starts_is_told_at_once_with_its_cause(own):
    cluster = own(*SMALL)
    cluster.run("down", "-n", "own")
    data = cluster.home / "local/own/nodes/broker-1/data/meta.properties"
    data.write_text(data.read_text().replace("cluster.id=", "cluster.id=another-"))
    begin = time.monotonic()
    done = cluster.run("up", "-n", "own", check=False)
    assert done.returncode == 5
    assert "broker-1 exited during its start: its data belongs to another cluster" in done.stderr
    assert "try:" in done.stderr
    assert time.monotonic() - begin < 60
    assert processes_below(cluster.home) == []


def test_the_second_one_is_told_who_works_on_the_cluster(own):
    cluster = own(*SMALL)
    cluster.run("down", "-n", "own")
    with child(cluster.command("up", "-n", "own"), env=cluster.env, stdout=subprocess.DEVNULL) as first:
        assert until(lambda: len(processes_below(cluster.home)) == 2)
        first.send_signal(signal.SIGSTOP)  # so that it cannot be ready before the second one asks
        try:
            second = cluster.run("up", "-n", "own", check=False)
        finally:
            first.send_signal(signal.SIGCONT)
        assert second.returncode == 7
        assert f"(pid {first.pid})" in second.stderr
        assert first.wait(120) == 0


def test_kraft_is_formatted_once_and_keeps_its_cluster_id(own):
    cluster = own("--kraft", "--controllers", "1", "--brokers", "1")
    meta = cluster.home / "local/own/nodes/controller-3000/data/meta.properties"
    before = meta.read_text()
    assert nodes(cluster)["controller-3000"]["role"] == "leader"
    cluster.run("topic", "create", "kept", "--partitions", "1", "--replication-factor", "1", "-n", "own")
    cluster.run("down", "-n", "own")
    cluster.run("up", "-n", "own")
    assert meta.read_text() == before
    assert "kept" in cluster.run("topic", "list", "-n", "own").stdout


def test_a_dry_run_shows_the_plan_and_makes_nothing(own, tmp_path):
    cluster = own(*SMALL)
    done = cluster.run("up", "--name", "planned", *SMALL, "--dry-run", "-o", "json")
    assert [(node["node"], node["action"]) for node in json.loads(done.stdout)["nodes"]] == [
        ("zookeeper-1", "start"),
        ("broker-1", "start"),
    ]
    assert not (cluster.home / "local/planned").exists()


def test_a_broken_archive_of_class_data_does_not_hinder_a_start(own, tmp_path, monkeypatch):
    # A release of its own, without archives: another worker starts clusters from the common one.
    release, bare = Release().directory, shutil.ignore_patterns("cds")
    shutil.copytree(cache.root() / release, tmp_path / "cache/releases" / release, symlinks=True, ignore=bare)
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    cluster = own(*SMALL)
    cluster.run("down", "-n", "own")  # it leaves an archive
    home = Path(json.loads((cluster.home / "local/own/record.json").read_text())["release_home"])
    assert home.is_relative_to(tmp_path)
    (archive,) = home.glob("cds/*/zookeeper.jsa")
    archive.unlink()
    archive.write_bytes(b"broken")
    cluster.run("up", "-n", "own")
    assert not archive.exists()


INVENTORY = """\
all:
  vars: {{ansible_connection: local, kcluster_name: own, kafka_config: {{log.retention.hours: {hours}}}}}
  children:
    zookeeper: {{hosts: {{keeper: {{zookeeper_id: 1}}}}}}
    kafka_broker: {{hosts: {{broker: {{kafka_broker_id: 1}}}}}}
"""


def test_changed_settings_are_written_and_wait_for_a_restart_and_wrong_ones_are_refused(own, tmp_path):
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(INVENTORY.format(hours=24))
    cluster = own("-i", str(inventory))
    before = nodes(cluster)
    inventory.write_text(INVENTORY.format(hours=48))
    done = json.loads(cluster.run("up", "-n", "own", "-o", "json").stdout)
    assert (done["started"], done["restart"]) == ([], ["broker-1"])
    assert nodes(cluster)["broker-1"]["pid"] == before["broker-1"]["pid"]
    config = cluster.home / "local/own/nodes/broker-1/etc/server.properties"
    assert "log.retention.hours=48" in config.read_text()
    inventory.write_text(INVENTORY.format(hours="soon"))
    refused = cluster.run("up", "-n", "own", check=False)
    assert refused.returncode == 3
    assert "log.retention.hours=soon must be a whole number" in refused.stderr
    assert "log.retention.hours=48" in config.read_text()
    inventory.write_text(INVENTORY.format(hours=48))
    cluster.run("down", "-n", "own")
    assert json.loads(cluster.run("up", "-n", "own", "-o", "json").stdout)["restart"] == []


def test_fewer_nodes_leave_the_others_running_and_say_so_until_down(own):
    cluster = own("--brokers", "2", "--zookeepers", "1")
    pid = nodes(cluster)["broker-2"]["pid"]
    done = json.loads(cluster.run("up", "-n", "own", "--brokers", "1", "-o", "json").stdout)
    assert done["gone"] == ["broker-2"]
    assert Path(f"/proc/{pid}").exists()
    assert "broker-2" in cluster.run("down", "-n", "own").stdout
    assert processes_below(cluster.home) == []
