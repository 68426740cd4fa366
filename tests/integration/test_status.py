"""`kcluster status` with real processes."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter

from kcluster.errors import ExitCode


def test_every_node_is_shown_with_its_process_and_its_role(live):
    done = live.run("status", "-n", live.name, "-o", "json")
    nodes = json.loads(done.stdout)["nodes"]
    assert Counter(node["state"] for node in nodes) == {"running": 6}
    assert Counter(node["role"] for node in nodes if node["kind"] == "zookeeper") == {"leader": 1, "follower": 2}
    assert Counter(node["role"] for node in nodes if node["kind"] == "broker") == {"controller": 1, "": 2}
    assert all(node["memory_bytes"] > 10_000_000 and node["uptime_seconds"] >= 0 for node in nodes)


def test_a_kraft_cluster_shows_the_leader_of_its_quorum_and_the_levels_of_its_features(kraft):
    done = kraft.run("status", "-n", kraft.name, "-o", "json")
    status = json.loads(done.stdout)
    assert status["release"] == "3.9.2"
    assert status["features"]["metadata.version"] == 21
    nodes = status["nodes"]
    assert Counter(node["role"] for node in nodes if node["kind"] == "controller") == {"leader": 1, "follower": 2}
    assert {node["role"] for node in nodes if node["kind"] == "broker"} == {""}


def test_the_table_ends_with_one_line_that_says_it_all(live):
    assert "6 of 6 nodes running" in live.run("status", "-n", live.name).stdout.splitlines()[-1]


def test_a_process_that_served_and_hangs_does_not_answer(live):
    nodes = json.loads(live.run("status", "-n", live.name, "-o", "json").stdout)["nodes"]
    frozen = [node["pid"] for node in nodes if node["node"] in ("broker-2", "zookeeper-2")]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        done = live.run("status", "-n", live.name, check=False)
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    assert done.returncode == ExitCode.NO
    rows = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert all("listens and does not answer at 127.0.0.1:" in rows[name] for name in ("broker-2", "zookeeper-2"))
    assert f"see why a node fails: kcluster logs -n {live.name}" in done.stdout
    live.run("health", "-n", live.name, "--wait", "60s")
