from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kcluster import local
from kcluster.clients.processes import left_after
from kcluster.errors import ExitCode
from tests.children import child

TWO_BROKERS = """
all:
  vars:
    kcluster_name: own
    ansible_connection: local
    kafka_listeners:
      - {name: internal, port: 29650}  # far from the default, so that nobody takes the port of a killed broker
      - {name: clients, port: 29670}
  children:
    zookeeper:
      hosts: {z1: {zookeeper_id: 1}}
    kafka_broker:
      hosts: {b1: {kafka_broker_id: 1}, b2: {kafka_broker_id: 2}}
"""


def answers(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def kill(cluster: Any, node: str) -> None:
    """Kill a node's process and wait for its end: until then its ports may answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCLUSTER_HOME", str(cluster.home))
        process = local.record(cluster.name).started[node].process
    os.kill(process.pid, signal.SIGKILL)
    assert left_after([process], 20) == []


def test_a_healthy_zookeeper_cluster_is_told_so(live: Any) -> None:
    done = live.run("health", "-n", live.name, "--wait", "30s", "-o", "json")
    checks = answers(done)
    assert json.loads(done.stdout)["ok"] is True
    assert checks["nodes up"]["detail"] == "6 of 6 answer"
    assert checks["zookeeper followers"]["detail"] == "2 of 2 in sync"
    assert checks["zookeeper leader"]["subject"].startswith("zookeeper-")
    assert checks["controller"]["detail"] == "one, reported by 3 brokers"
    assert checks["advertised addresses"]["detail"] == "3 of 3 answer"
    assert checks["cluster id"]["detail"].endswith("on 3 of 3 that answer")
    assert "quorum leader" not in checks


def test_a_healthy_kraft_cluster_is_told_so(kraft: Any) -> None:
    done = kraft.run("health", "-n", kraft.name, "--wait", "30s", "-o", "json")
    checks = answers(done)
    assert checks["quorum leader"]["subject"] == checks["controller"]["subject"]
    assert checks["quorum lag"]["detail"] == "3 of 3 voters in sync with the leader"
    assert checks["cluster id"]["detail"].endswith("on 6 of 6 that answer")
    assert "zookeeper leader" not in checks


def test_without_an_inventory_the_questions_left_out_are_named(live: Any) -> None:
    lines = live.run("health", "-b", live.bootstrap, "--wait", "30s").stdout.splitlines()
    assert any(line.startswith("not checked: ZooKeeper") for line in lines)
    assert lines[-1] == f"the cluster at {live.bootstrap}: all checks passed"


def test_nothing_that_answers_is_another_exit_code(live: Any) -> None:
    done = live.run("health", "-b", "127.0.0.1:1", "-o", "json", check=False)
    assert done.returncode == ExitCode.UNREACHABLE
    assert json.loads(done.stdout)["silent"] is True


def test_a_killed_broker_is_named_with_its_partitions_and_waiting_sees_it_return(
    own: Callable[..., Any], tmp_path: Path
) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(TWO_BROKERS)
    cluster = own("-i", str(inventory))
    topic = (
        "topic",
        "create",
        "orders",
        "--partitions",
        "2",
        "--replication-factor",
        "2",
        "-c",
        "min.insync.replicas=2",
    )
    cluster.run(*topic, "-n", cluster.name)
    cluster.run("health", "-n", cluster.name, "--wait", "20s")
    kill(cluster, "broker-2")

    at_once = cluster.run("health", "-n", cluster.name, "-o", "json", check=False)
    assert at_once.returncode == ExitCode.NO
    assert answers(at_once)["nodes up"]["subject"] == "broker-2"
    assert answers(at_once)["advertised addresses"]["subject"] == "broker-2 INTERNAL, broker-2 CLIENTS"

    both = "orders-0 (without 2), orders-1 (without 2)"
    in_time = {
        "brokers registered": "1 of 2; broker-2 is missing",
        "under-replicated partitions": both,
        "under-min-ISR partitions": both,
    }
    later = noticed(cluster, in_time)
    assert {later[name]["subject"] for name in in_time} == {"broker-2"}
    (listed,) = json.loads(cluster.run("topic", "list", "-n", cluster.name, "-o", "json").stdout)
    assert (listed["name"], listed["under_min_isr"], listed["under_replicated"]) == ("orders", 2, 2)

    command = cluster.command("health", "-n", cluster.name, "--wait", "170s")
    with child(command, env=cluster.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
        cluster.run("up", "-i", str(inventory), "--name", cluster.name)
        output, progress = waiting.communicate(timeout=200)
    assert waiting.returncode == ExitCode.DONE
    assert output.splitlines()[-1].endswith("all checks passed")
    lines = progress.splitlines()
    assert lines
    assert all(line != before for before, line in pairwise(lines))


def noticed(cluster: Any, wanted: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The answers, as soon as the cluster has noticed all of this: it tells of one after the other."""
    deadline = time.monotonic() + 60
    while True:
        checks = answers(cluster.run("health", "-n", cluster.name, "-o", "json", check=False))
        if all(checks[name]["detail"].endswith(detail) for name, detail in wanted.items()):
            return checks
        assert time.monotonic() < deadline, checks
        time.sleep(0.2)


def test_waiting_ends_with_a_no_when_the_time_is_over(live: Any) -> None:
    started = time.monotonic()
    done = live.run("health", "-b", "127.0.0.1:1", "--wait", "1s", check=False)
    assert done.returncode == ExitCode.UNREACHABLE
    assert 1 <= time.monotonic() - started < 15
    assert len(done.stderr.splitlines()) == 1


def test_watching_prints_when_something_changes_and_ends_with_ctrl_c(live: Any) -> None:
    command = live.command("health", "-b", live.bootstrap, "--watch")
    with child(command, env=live.env, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        lines = []
        while not lines or "the cluster at" not in lines[-1]:
            lines.append(watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
        assert watching.stdout.read() == ""
    assert watching.returncode == ExitCode.INTERRUPTED
