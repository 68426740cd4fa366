"""Spark on hosts from day to day: what every command says of it, and that it goes with its cluster.

After test_spark.py, which uses the same hosts: the last test takes the cluster away.
"""

from __future__ import annotations

import json
import time
from typing import Any

from kcluster.errors import ExitCode
from tests.hosts.fleet import Fleet

PLACES = "/opt/spark /etc/spark /var/log/spark /var/lib/spark-master /var/lib/spark-worker"


def said(fleet: Fleet, *words: str, code: int = 0) -> str:
    """What a command says, on either stream, when it ends as it should."""
    done = fleet.run(*words, "-i", str(fleet.inventory), check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def told(fleet: Fleet, *words: str, code: int = 0) -> Any:
    done = fleet.run(*words, "-o", "json", "-i", str(fleet.inventory), check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def spark(fleet: Fleet, code: int = 0) -> dict[str, tuple[str, str]]:
    """The state and the role of each node of Spark."""
    nodes = told(fleet, "status", code=code)["nodes"]
    return {node["node"]: (node["state"], node["role"]) for node in nodes if node["node"].startswith("spark-")}


def spark_state(fleet: Fleet, node: str) -> str:
    """What `status` says of a node, whether all the others run or not."""
    done = fleet.run("status", "-o", "json", "-i", str(fleet.inventory), check=False)
    return next(str(each["state"]) for each in json.loads(done.stdout)["nodes"] if each["node"] == node)


def test_hosts_that_run_spark_are_fit_and_a_worker_stops_alone_and_starts_when_its_port_is_free(
    sparks: Fleet,
) -> None:
    for host in ("h2", "h3"):
        sparks.lab.ssh(host, "systemctl reset-failed spark-worker")  # another test has killed it, and that is forgiven
    said(sparks, "health", "--wait", "120s")
    checked = told(sparks, "check")
    assert checked["counts"]["error"] == 0
    found = {(each["id"], each["host"]): each["found"] for each in checked["checks"] if each["severity"] == "ok"}
    assert "1.0 GiB for executors" in found["memory-heap", "h3"]
    ours = [each["found"] for each in checked["checks"] if each["id"] == "port-taken" and each["host"] == "h2"]
    assert {"port 7077: our unit", "port 7078: our unit", "port 8080: our unit", "port 8081: our unit"} <= set(ours)

    assert "stopped spark-worker-h3" in said(sparks, "stop", "spark-worker-h3", "--yes")
    assert spark(sparks, code=ExitCode.NO)["spark-worker-h3"] == ("stopped", "")
    assert "spark-worker-h3 is not registered with the leading Spark master yet" in said(
        sparks, "health", code=ExitCode.NO
    )
    sparks.lab.ssh("h3", "systemd-run --quiet --unit=thief python3 -m http.server 7078")
    refused = said(sparks, "start", "spark-worker-h3", "--yes", code=ExitCode.APPLY)
    sparks.lab.ssh("h3", "systemctl stop thief")
    assert "a port it needs is in use (7078 is used by python3" in refused
    deadline = time.monotonic() + 120
    while spark_state(sparks, "spark-worker-h3") != "running":  # systemd tries again by itself
        assert time.monotonic() < deadline
    assert "all serve" in said(sparks, "start", "spark-worker-h3", "--yes")
    sparks.lab.ssh("h3", "systemctl reset-failed spark-worker")
    states = spark(sparks)
    assert {state for state, _ in states.values()} == {"running"}
    assert sorted(role for name, (_, role) in states.items() if "master" in name) == ["leader", "standby"]
    assert "Worker" in said(sparks, "logs", "spark-worker-h3")
    assert "Spark serves" in said(sparks, "health", "--wait", "60s")


def test_a_changed_word_restarts_exactly_who_was_told_it_and_the_next_run_changes_nothing(sparks: Fleet) -> None:
    cluster = (sparks.inventory / "cluster.yml").read_text()
    on_h2 = cluster.replace(
        "spark_worker:\n      hosts: {h2: ,", "spark_worker:\n      hosts: {h2: {spark_worker_cores: 3},"
    )
    assert on_h2 != cluster
    sparks.write(on_h2)
    planned = said(sparks, "plan")
    assert "1. spark-worker-h2 on h2" in planned
    assert "2. " not in planned
    result = told(sparks, "provision", "--yes")
    (restarted,) = result["restarted"]
    assert restarted.startswith("spark-worker-h2 on h2 in ")
    assert "nothing had to change" in said(sparks, "provision", "--yes")
    assert {state for state, _ in spark(sparks).values()} == {"running"}


def test_it_goes_with_its_cluster_and_what_is_not_sparks_stays(sparks: Fleet) -> None:
    sparks.lab.ssh("h3", "mkdir -p /var/lib/spark/jobs/photos")
    sparks.lab.ssh("h2", "touch /etc/spark/by-hand.conf")
    name = "triospark"
    gone = said(sparks, "destroy", "--delete-data", "--confirm", name, code=ExitCode.NO)
    assert "h3: /var/lib/spark holds what is not the cluster's: jobs" in gone
    assert "the accounts kafka and spark stay on the hosts" in gone
    left = {host: sparks.lab.ssh(host, f"ls -A {PLACES} 2>/dev/null || true").split() for host in ("h1", "h2", "h3")}
    assert left == {"h1": [], "h2": ["/etc/spark:", "by-hand.conf"], "h3": []}
    assert sparks.lab.ssh("h2", "ls -A /var/lib/spark /var/lib/kafka").split() == ["/var/lib/kafka:", "/var/lib/spark:"]
    assert sparks.lab.ssh("h3", "systemctl list-unit-files --no-legend 'spark*' 'kafka*' 'zookeeper*' || true") == ""
