"""`kcluster status` with real processes."""

from __future__ import annotations

import json
from collections import Counter


def test_every_node_is_shown_with_its_process_and_its_role(live):
    done = live.run("status", "-n", live.name, "-o", "json")
    nodes = json.loads(done.stdout)["nodes"]
    assert Counter(node["state"] for node in nodes) == {"running": 6}
    assert Counter(node["role"] for node in nodes if node["kind"] == "zookeeper") == {"leader": 1, "follower": 2}
    assert Counter(node["role"] for node in nodes if node["kind"] == "broker") == {"controller": 1, "": 2}
    assert all(node["memory_bytes"] > 10_000_000 and node["uptime_seconds"] >= 0 for node in nodes)


def test_a_kraft_cluster_shows_the_leader_of_its_quorum(kraft):
    done = kraft.run("status", "-n", kraft.name, "-o", "json")
    nodes = json.loads(done.stdout)["nodes"]
    assert Counter(node["role"] for node in nodes if node["kind"] == "controller") == {"leader": 1, "follower": 2}
    assert {node["role"] for node in nodes if node["kind"] == "broker"} == {""}


def test_the_table_ends_with_one_line_that_says_it_all(live):
    assert "6 of 6 nodes running" in live.run("status", "-n", live.name).stdout.splitlines()[-1]
