from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewTopic

from kcluster import local
from kcluster.clients.kafka import Kafka, topics
from kcluster.errors import ExitCode
from kcluster.operations.smoke import PREFIX, smoke
from kcluster.plan import Dynamic
from kcluster.rollout.dynamic_config import apply_dynamic
from kcluster.smoke import replica_reads
from kcluster.smoke.group_failover import FailoverGroup, GroupFailover
from kcluster.smoke.verdict import Flaw
from tests.children import child
from tests.integration.losing import lose_records

TWO_LISTENERS = """
all:
  vars:
    kcluster_name: own
    ansible_connection: local
    kafka_listeners: [{name: internal, port: 29550}, {name: clients, port: 29570}]
  children:
    zookeeper:
      hosts: {z1: {zookeeper_id: 1}}
    kafka_broker:
      hosts: {b1: {kafka_broker_id: 1}}
"""

AT_LEISURE = ("--timeout", "120")
"""It takes a second or two; a busy machine takes more."""

NO_COORDINATOR = """
all:
  vars:
    kcluster_name: own
    ansible_connection: local
    kafka_config: {offsets.topic.num.partitions: 100000}
  children:
    zookeeper:
      hosts: {z1: {zookeeper_id: 1}}
    kafka_broker:
      hosts: {b1: {kafka_broker_id: 1}}
"""
"""With a `__consumer_offsets` of one partition, hardly any group finds its own, and so its coordinator."""


def smoke_topics(bootstrap: str) -> set[str]:
    """The temporary topics that any broker knows: news of a deletion reach them one after the other."""
    views = topics.by_each_broker(Kafka(bootstrap))
    return {name for view in views for name in view if name.startswith(PREFIX)}


def forgotten(bootstrap: str, before: set[str]) -> bool:
    """Whether the temporary topics go."""
    deadline = time.monotonic() + 20
    while smoke_topics(bootstrap) - before:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_a_healthy_cluster_keeps_what_it_acknowledged(live: Any) -> None:
    before = smoke_topics(live.bootstrap)
    done = live.run("smoke", "--bootstrap", live.bootstrap, *AT_LEISURE, "--messages", "300", "-o", "json")
    proof = json.loads(done.stdout)
    assert proof["holds"] is True
    assert proof["verdict"]["acknowledged"] == proof["verdict"]["seen"] >= 300
    assert proof["verdict"]["faults"] == proof["problems"] == []
    assert sorted(proof["leaders"].values()) == [1, 2, 3]
    assert {(replica["partition"], replica["broker"]) for replica in proof["replicas"]} == {
        (partition, broker) for partition in range(3) for broker in (1, 2, 3)
    }
    assert all(replica["read_to"] >= replica["end"] > 0 for replica in proof["replicas"])
    assert all(row["entered"] > 0 and row["seen"] == row["acknowledged"] > 0 for row in proof["rows"])
    assert all(row["p50_ms"] <= row["p99_ms"] for row in proof["rows"])
    assert 0 < proof["resumed"] < proof["verdict"]["seen"]
    assert forgotten(live.bootstrap, before)


def test_the_smoke_test_passes_with_kraft_as_well(kraft: Any) -> None:
    proof = json.loads(kraft.run("smoke", "-n", kraft.name, *AT_LEISURE, "--messages", "90", "-o", "json").stdout)
    assert proof["holds"] is True
    assert [row["listener"] for row in proof["rows"]] == ["INTERNAL"] * 3
    assert [replica["fault"] for replica in proof["replicas"]] == [""] * 9


def test_each_listener_of_the_inventory_is_tested(own: Callable[..., Any], tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(TWO_LISTENERS)
    cluster = own("-i", str(inventory))
    proof = json.loads(cluster.run("smoke", "-n", cluster.name, *AT_LEISURE, "--messages", "40", "-o", "json").stdout)
    assert [(row["listener"], row["entered"] > 0) for row in proof["rows"]] == [("INTERNAL", True), ("CLIENTS", True)]
    assert proof["left_out"] == []


def test_people_read_a_row_for_each_broker_and_the_verdict_last(live: Any) -> None:
    lines = live.run("smoke", "-b", live.bootstrap, *AT_LEISURE, "--messages", "30").stdout.splitlines()
    assert lines[0].split()[:2] == ["BROKER", "ADDRESS"]
    assert [line.split()[0] for line in lines[1:4]] == ["1", "2", "3"]
    assert lines[-1].startswith("smoke test passed: ")


def test_records_that_are_really_lost_make_the_judge_say_no(live: Any) -> None:
    kafka, before = Kafka(live.bootstrap), smoke_topics(live.bootstrap)
    verdict = smoke(kafka, timeout=120, messages=90, before_read=lambda topic: lose_records(kafka, topic, 1, 4))
    assert not verdict.passed
    assert verdict.exit_code is ExitCode.NO
    assert {fault.flaw for fault in verdict.verdict.faults} == {Flaw.LOST}
    assert [(fault.partition, fault.offset) for fault in verdict.verdict.faults] == [(1, at) for at in range(4)]
    named = verdict.data()["verdict"]["faults"][0]
    assert named["broker"] == verdict.leaders[1]
    assert named["sequence"] >= 0
    assert forgotten(live.bootstrap, before)


def test_a_whole_partition_that_vanished_is_noticed(live: Any) -> None:
    kafka = Kafka(live.bootstrap)
    verdict = smoke(kafka, timeout=120, messages=30, before_read=lambda topic: lose_records(kafka, topic, 0, -1))
    assert not verdict.passed
    assert verdict.verdict.count(Flaw.LOST) == sum(fault.partition == 0 for fault in verdict.verdict.faults) > 0
    assert any("lost" in str(cell) for block in verdict.view() for cell in getattr(block, "rows", ()))


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda log: log.truncate(log.tell() // 2), "read only to offset 0 of"),
        (lambda log: (log.seek(-20, 1), log.write(b"#")), "differs from that of the leader, broker 1, at offset"),
    ],
    ids=["cut off", "changed"],
)
def test_a_follower_whose_log_lacks_records_is_named_though_the_leader_has_all(
    live: Any, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Any], Any], fault: str
) -> None:
    monkeypatch.setattr(replica_reads, "PATIENCE", 1.0)

    def damage_follower(topic: str) -> None:
        (file,) = live.home.glob(f"local/{live.name}/**/broker-3/**/{topic}-0/*.log")
        with file.open("rb+") as log:
            log.seek(0, 2)
            damage(log)

    verdict = smoke(Kafka(live.bootstrap), timeout=120, messages=90, before_read=damage_follower)
    assert verdict.verdict.passed
    assert not verdict.passed
    assert verdict.exit_code is ExitCode.NO
    (problem,) = verdict.problems
    assert problem.startswith(f"replica of partition 0 on broker 3 {fault}")
    assert "8 of 9 replicas complete" in verdict.sentence
    assert [(row.partition, row.broker) for row in verdict.replicas if row.fault] == [(0, 3)]


def test_a_broker_whose_effective_min_isr_is_below_the_declared_one_fails_the_test(
    live: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(live.home))
    cluster = local.running(live.name)
    change = [Dynamic("broker-2", "min.insync.replicas", "2", "1")]
    try:
        apply_dynamic(cluster, change, progress=lambda _: None)
        done = live.run("smoke", "-n", live.name, *AT_LEISURE, "--messages", "30", "-o", "json", check=False)
    finally:
        apply_dynamic(cluster, [replace(change[0], after=None)], progress=lambda _: None)
    proof = json.loads(done.stdout)
    assert done.returncode == ExitCode.NO
    (problem,) = proof["problems"]
    assert problem.startswith("broker 2: min.insync.replicas is 1 (dynamic broker), declared 2")
    assert proof["verdict"]["faults"] == []


def test_a_commit_that_was_lost_is_noticed(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = Kafka(live.bootstrap)
    resume = FailoverGroup._resume

    def forgotten(group: FailoverGroup, *known: Any) -> GroupFailover:
        kafka.wait(kafka.admin.delete_consumer_groups([group.name])[group.name])
        return resume(group, *known)

    monkeypatch.setattr(FailoverGroup, "_resume", forgotten)
    verdict = smoke(kafka, timeout=120, messages=90)
    assert [(fault.flaw, fault.partition) for fault in verdict.verdict.faults] == [
        (Flaw.NOT_RESUMED, partition) for partition in range(3)
    ]
    assert "read 0" in verdict.verdict.faults[0].detail


def test_a_group_without_a_coordinator_is_told_in_time_and_the_records_are_read_all_the_same(
    own: Callable[..., Any], tmp_path: Path
) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(NO_COORDINATOR)
    cluster = own("-i", str(inventory))
    kafka = Kafka(cluster.bootstrap)
    kafka.wait(kafka.admin.create_topics([NewTopic("__consumer_offsets", 1, 1)])["__consumer_offsets"])
    done = cluster.run("smoke", "-n", cluster.name, "--messages", "40", "--timeout", "20", "-o", "json", check=False)
    proof = json.loads(done.stdout)
    assert done.returncode == ExitCode.NO
    (problem,) = proof["problems"]
    assert "group failover failed: its coordinator (__consumer_offsets) does not answer" in problem
    assert proof["verdict"]["seen"] == proof["verdict"]["acknowledged"] >= 40
    assert proof["seconds"] < 30  # a commit alone would wait for twice as long


def test_a_record_from_elsewhere_is_noticed(live: Any) -> None:
    kafka = Kafka(live.bootstrap)

    def intrude(topic: str) -> None:
        producer = kafka.producer()
        producer.produce(topic, b"not one of ours", partition=2)
        assert producer.flush(10) == 0

    verdict = smoke(kafka, timeout=120, messages=30, before_read=intrude)
    assert [fault.flaw for fault in verdict.verdict.faults] == [Flaw.FOREIGN]


def test_keep_leaves_the_topic_and_names_it(live: Any) -> None:
    done = live.run("smoke", "-b", live.bootstrap, "--messages", "9", "--keep")
    (topic,) = re.findall(rf"kept: topic ({PREFIX}\w+)", done.stdout)
    kafka = Kafka(live.bootstrap)
    assert topic in smoke_topics(live.bootstrap)
    kafka.wait(kafka.admin.delete_topics([topic])[topic])
    assert forgotten(live.bootstrap, set())


@pytest.mark.parametrize(
    ("ending", "moment"),
    [(signal.SIGINT, 0), (signal.SIGINT, 500), (signal.SIGTERM, 1)],
)
def test_the_topic_is_removed_when_the_smoke_test_is_interrupted(
    live: Any, ending: signal.Signals, moment: int
) -> None:
    """The moment is a number of records in the topic: most of the time they are acknowledged in a callback."""
    before, kafka = smoke_topics(live.bootstrap), Kafka(live.bootstrap)

    def reached() -> bool:
        names = smoke_topics(live.bootstrap) - before
        ends = topics.offsets(kafka, [TopicPartition(name, number) for name in names for number in range(3)], "latest")
        return bool(names) and sum(ends.values()) >= moment

    command = live.command("smoke", "-b", live.bootstrap, "--messages", "1000000")
    with child(command, env=live.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 20
        while not reached():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.send_signal(ending)
        output, errors = running.communicate(timeout=20)
    assert (running.returncode, output) == (ExitCode.INTERRUPTED, ""), errors
    assert errors.splitlines()[-1] == "interrupted"
    assert "Traceback" not in errors
    assert forgotten(live.bootstrap, before)


def test_no_cluster_is_told_within_seconds(live: Any) -> None:
    started = time.monotonic()
    done = live.run("smoke", "-b", "127.0.0.1:1", check=False)
    assert done.returncode == ExitCode.UNREACHABLE
    assert "error: no broker answers at 127.0.0.1:1" in done.stderr
    assert time.monotonic() - started < 12
