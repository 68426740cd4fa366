"""`kcluster health` of a cluster on hosts: Kafka's own verdict, and that of the hosts."""

from __future__ import annotations

import json
import re
from typing import Any

from kcluster.errors import ExitCode
from tests.hosts.fleet import Fleet
from tests.lab import faults
from tests.lab.machine import wait_until


def checks(fleet: Fleet, code: ExitCode, *args: str) -> dict[str, dict[str, Any]]:
    """The answers by their question, from a run that ended with this code."""
    done = fleet.run("health", "-i", str(fleet.inventory), "-o", "json", *args, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def refused(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Those that say no, with their subjects."""
    return {name: check["subject"] for name, check in found.items() if not check["ok"]}


def up(fleet: Fleet) -> bool:
    """Whether all nodes answer and all brokers are registered."""
    done = fleet.run("health", "-i", str(fleet.inventory), "-o", "json", check=False)
    found = {check["name"]: check["ok"] for check in json.loads(done.stdout)["checks"]}
    return bool(found["nodes up"] and found["brokers registered"])


def test_units_hosts_and_kafka_are_one_verdict(living: Fleet) -> None:
    found = checks(living, ExitCode.DONE, "-w", "60s")
    assert found["hosts reachable"]["detail"] == "3 of 3 answer over SSH"
    assert found["units run"]["detail"] == found["units steady"]["detail"] == "6 of 6"
    assert "free at least" in found["disk room"]["detail"]

    living.lab.ssh("h1", "systemctl disable -q zookeeper")
    assert refused(checks(living, ExitCode.NO)) == {"units start at boot": "zookeeper-1"}
    living.lab.ssh("h1", "systemctl enable -q zookeeper")

    living.lab.ssh("h3", "systemctl kill -s KILL kafka")
    assert refused(checks(living, ExitCode.NO))["units run"] == "broker-3"
    living.lab.ssh("h3", "until systemctl -q is-active kafka; do sleep 0.2; done")
    again = checks(living, ExitCode.NO)["units steady"]
    assert again["subject"] == "broker-3"
    assert re.search(r"restarted by systemd \d+ times?", again["detail"])
    # Until it serves: stopped earlier, it would find its own registration, which outlives a killed broker, and end.
    wait_until(lambda: up(living), 120, "broker-3 to serve again")
    living.lab.ssh("h3", "systemctl stop kafka; systemctl start kafka")
    wait_until(lambda: up(living), 120, "broker-3 to serve again")

    faults.cable_out(living.lab.host("h2"))
    lost = checks(living, ExitCode.NO)
    faults.cable_in(living.lab.host("h2"))
    assert refused(lost)["hosts reachable"] == "h2"
    assert lost["units run"]["detail"] == "4 of 4"
    assert lost["cluster id"]["ok"]

    assert refused(checks(living, ExitCode.DONE, "-w", "120s")) == {}
