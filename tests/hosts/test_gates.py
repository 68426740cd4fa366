"""The gates on real hosts: they ask what runs, whatever the inventory wants meanwhile."""

from __future__ import annotations

import json

from tests.hosts.fleet import TRIO_ZK, Fleet, NewFleet, served
from tests.hosts.under_load import under_load

MOVED = TRIO_ZK.replace("  children:", "    kafka_listeners: [{name: internal, port: 9192}]\n  children:", 1)
STARTED = "systemctl show kafka --property ActiveEnterTimestampMonotonic --value"


def test_a_broker_is_asked_where_it_was_started_when_the_inventory_moves_its_port(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    trio.run("topic", "create", "safe", "-p", "3", "-r", "3", "-c", "min.insync.replicas=2", "-b", trio.bootstrap)
    with_a_broker_down_no_other_may_stop(trio)
    the_port_moves_under_load(trio)


def with_a_broker_down_no_other_may_stop(trio: Fleet) -> None:
    trio.lab.ssh("h3", "systemctl stop kafka")
    trio.write(MOVED)
    before = trio.lab.ssh("h1", STARTED)
    done = trio.run("restart", "broker-1", "-i", str(trio.inventory), "--yes", "--gate-timeout", "2", check=False)
    assert done.returncode == 4, done.stderr
    assert "broker-1 may not stop: broker-3 does not answer" in done.stderr
    assert trio.lab.ssh("h1", STARTED) == before
    trio.write(TRIO_ZK)
    served(trio)


def the_port_moves_under_load(trio: Fleet) -> None:
    trio.write(MOVED)
    with under_load(trio, trio.bootstrap, "moved") as load:
        done = json.loads(trio.run("provision", "-i", str(trio.inventory), "--yes", "-o", "json").stdout)
        load.bootstrap = done["bootstrap"]
    assert sorted(line.split()[0] for line in done["restarted"]) == ["broker-1", "broker-2", "broker-3"]
    assert done["bootstrap"] == ",".join(f"{host.address}:9192" for host in trio.lab.hosts)
    load.assert_served()
