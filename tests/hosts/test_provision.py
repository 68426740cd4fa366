"""`kcluster provision` on real hosts: bare, unchanged, changed under load, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet
from tests.hosts.under_load import under_load
from tests.lab import faults

TOPICS = """    kafka_topics: [{name: trucks_gps, partitions: 10, replication_factor: 3}]
"""
DATA = "/var/lib/kafka"
CONFIG = "cat /etc/kafka/server.properties"
DISK_MB = 1300
"""A new data directory needs 1 GiB."""
STARTS = "systemctl show kafka zookeeper --property ActiveEnterTimestampMonotonic --value"


def started(fleet: Fleet) -> dict[str, str]:
    """When the units of each host were started."""
    return {host.name: fleet.lab.ssh(host.name, STARTS) for host in fleet.lab.hosts}


def provision(fleet: Fleet, *args: str) -> Any:
    """The result of a run, as programs read it."""
    return json.loads(fleet.run("provision", "-i", str(fleet.inventory), "--yes", "-o", "json", *args).stdout)


def give_fresh_disks(fleet: Fleet, *paths: str) -> None:
    """Mount a new ext4 at these paths of every host; each has its lost+found."""
    for host in fleet.lab.hosts:
        for path in paths:
            faults.small_disk(host, path, DISK_MB)


def changed(cluster: str, config: str) -> str:
    """The same cluster with one more broker setting."""
    return cluster.replace("kafka_config: {", f"kafka_config: {{{config}, ")


def test_from_bare_hosts_to_a_changed_cluster_and_nothing_is_lost(fleet: NewFleet) -> None:
    cluster = TRIO_ZK.replace("  children:", f"{TOPICS}  children:", 1)
    trio = fleet(3, cluster)
    give_fresh_disks(trio, DATA, "/var/lib/zookeeper")

    first = provision(trio)
    assert first["holds"] is True
    assert {change["host"] for change in first["changed"]} == {"h1", "h2", "h3"}
    assert (first["topics"], first["restarted"]) == (1, [])
    bootstrap = first["bootstrap"]

    starts = started(trio)
    again = trio.run("provision", "-i", str(trio.inventory), "--yes")
    assert "nothing had to change" in again.stdout
    assert "Ansible" not in again.stderr
    assert started(trio) == starts

    cluster = cluster.replace("partitions: 10,", "partitions: 12, config: {retention.ms: 3600000},")
    _topics_are_shown_and_asked_for_though_no_host_changes(trio, cluster)

    _a_roll_that_cannot_be_safe_writes_nothing(trio, changed(cluster, "queued.max.requests: 600"))
    with under_load(trio, bootstrap, "under-load") as rolled:
        result = provision(trio)
    assert [line.split()[0] for line in result["restarted"]] != []
    assert {line.split()[0] for line in result["restarted"]} == {"broker-1", "broker-2", "broker-3"}
    assert all("queued.max.requests" in line for line in result["restarted"])
    assert result["topics"] == 2
    rolled.assert_served()

    starts = started(trio)
    trio.write(changed(cluster, "queued.max.requests: 600, background.threads: 12"))
    result = provision(trio, "--no-smoke")
    assert result["restarted"] == []
    assert any("background.threads" in line for line in result["settings"])
    assert started(trio) == starts

    history = json.loads(trio.run("history", "-i", str(trio.inventory), "-o", "json").stdout)["runs"]
    assert sorted(run["outcome"] for run in history) == ["done"] * 4 + ["failed"] * 2


def _topics_are_shown_and_asked_for_though_no_host_changes(trio: Fleet, cluster: str) -> None:
    trio.write(cluster)
    planned = json.loads(trio.run("plan", "-i", str(trio.inventory), "-o", "json").stdout)
    assert [(step["action"], step["what"]) for step in planned["topics"]] == [
        ("add partitions", "partitions"),
        ("set", "retention.ms"),
    ]
    assert (planned["nothing"], planned["changes"], planned["restarts"]) == (False, [], [])

    unanswered = trio.run("provision", "-i", str(trio.inventory), check=False)
    assert unanswered.returncode == 2
    assert "set trucks_gps: retention.ms 3600000" in unanswered.stderr
    topic = json.loads(trio.run("topic", "describe", "trucks_gps", "-i", str(trio.inventory), "-o", "json").stdout)[0]
    assert (len(topic["partitions"]), topic["config"]) == (10, {})


def _a_roll_that_cannot_be_safe_writes_nothing(trio: Fleet, cluster: str) -> None:
    """A topic with one copy alone: the new file would be there, and who restarts by accident would start with it."""
    trio.run("topic", "create", "single", "-p", "1", "-r", "1", "-i", str(trio.inventory))
    trio.write(cluster)
    refused = trio.run("provision", "-i", str(trio.inventory), "--yes", check=False)
    assert refused.returncode == 4
    assert (
        "rolling restart refused: partitions would fall below min.insync.replicas (nothing was stopped)"
        in refused.stderr
    )
    assert "single-0" in refused.stderr
    assert all("requests=600" not in trio.lab.ssh(host.name, CONFIG) for host in trio.lab.hosts)
    trio.run("topic", "delete", "single", "-i", str(trio.inventory), "--confirm", "single")


def test_kraft_from_bare_hosts_and_again(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_KRAFT)
    give_fresh_disks(trio, DATA, "/var/lib/kafka-controller")
    first = provision(trio)
    assert first["holds"] is True
    assert first["bootstrap"].count(":9092") == 3
    second = provision(trio)
    assert (second["changed"], second["restarted"], second["holds"]) == ([], [], True)
    _a_disk_is_swapped_for_a_fresh_one(trio)


def _a_disk_is_swapped_for_a_fresh_one(trio: Fleet) -> None:
    host = trio.lab.host("h3")
    trio.lab.ssh("h3", "systemctl stop kafka")
    faults.lose_disk(host, DATA)
    faults.small_disk(host, DATA, DISK_MB)
    trio.lab.ssh("h3", f"touch {DATA}/lost+found/12")  # e2fsck found something
    refused = trio.run("provision", "-i", str(trio.inventory), "--yes", check=False)
    assert refused.returncode == 4
    assert f"h3: {DATA} holds lost+found, and Kafka does not start with" in refused.stderr

    trio.lab.ssh("h3", f"rm {DATA}/lost+found/12")
    assert provision(trio)["holds"] is True
    assert "lost+found" not in trio.lab.ssh("h3", f"ls {DATA}")


def test_the_answer_no_and_no_answer_change_nothing(fleet: NewFleet) -> None:
    one = fleet(1, TRIO_ZK.replace(", h2: {zookeeper_id: 2}, h3: {zookeeper_id: 3}", ""))
    one.write(
        (one.inventory / "cluster.yml").read_text().replace(", h2: {kafka_broker_id: 2}, h3: {kafka_broker_id: 3}", "")
    )
    refused = one.run("provision", "-i", str(one.inventory), check=False)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1] == "  try: add --yes"
    assert one.lab.ssh("h1", "ls /opt /etc/systemd/system").count("kafka") == 0


def test_wrong_words_are_told_before_any_host_is_entered(fleet: NewFleet, tmp_path: Path) -> None:
    one = fleet(1, TRIO_ZK)
    limited = one.run("provision", "-i", str(one.inventory), "--limit", "h9", "--yes", check=False)
    assert limited.returncode == 2
    assert "there is no such host in trio" in limited.stderr
    missing = one.run("provision", "-i", str(tmp_path / "nowhere"), check=False)
    assert missing.returncode == 3
