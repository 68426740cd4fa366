"""Rolling restarts, starts and stops on real hosts, under load and with a broker that cannot start."""

from __future__ import annotations

import json
import subprocess
import time

from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet
from tests.hosts.under_load import Load, read_back, under_load

LONGEST_GAP = 30.0
"""Seconds without an acknowledgement; a second or two on a machine with nothing else to do."""

CONFIG = "/etc/kafka/server.properties"
RATE, SLOW = "follower.replication.throttled.rate", "follower.replication.throttled.replicas"
CONFIGURE = """
import sys
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

bootstrap, kind, name, key, value = sys.argv[1:]
change = AlterConfigOpType.SET if value else AlterConfigOpType.DELETE
entry = ConfigEntry(key, value, incremental_operation=change)
resource = ConfigResource(ResourceType[kind], name, incremental_configs=[entry])
client = AdminClient({"bootstrap.servers": bootstrap})
for done in client.incremental_alter_configs([resource]).values():
    done.result(30)
"""
FILL = """
import sys
from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": sys.argv[1]})
for number in range(540):  # 9 MB in each partition; a throttled follower takes about 1 MB in ten seconds
    producer.produce(sys.argv[2], bytes(100_000), partition=number % 6)
assert producer.flush(60) == 0
"""


def kcluster(fleet: Fleet, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = fleet.run(*words, "-i", str(fleet.inventory), check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def leader(fleet: Fleet, role: str) -> str:
    nodes = json.loads(kcluster(fleet, "status", "-o", "json").stdout)["nodes"]
    return next(node["node"] for node in nodes if role in node["role"])


def elections(fleet: Fleet) -> int:
    """How many leaders the quorum has had."""
    checks = json.loads(kcluster(fleet, "health", "--wait", "60s", "-o", "json").stdout)["checks"]
    return next(int(check["detail"].rpartition(" ")[2]) for check in checks if check["name"] == "quorum leader")


def configure(fleet: Fleet, kind: str, name: str, key: str, value: str = "") -> None:
    """Set one property of a topic or a running broker; take it back when it has no value."""
    fleet.python(CONFIGURE, fleet.bootstrap, kind, name, key, value)


def refused_for(fleet: Fleet, node: str, why: str) -> None:
    """Try to restart a node, which is refused each time, until it is refused for this."""
    deadline = time.monotonic() + 60
    while why not in (said := kcluster(fleet, "restart", node, "--yes", "--gate-timeout", "2", code=4).stderr):
        assert time.monotonic() < deadline, said


def test_a_live_zookeeper_cluster_is_restarted_stopped_and_started_without_losing_a_record(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    all_are_restarted_and_who_leads_is_last(trio)
    last = leader(trio, "controller")
    done, broken = (f"broker-{number}" for number in (1, 2, 3) if f"broker-{number}" != last)
    sent = a_broker_that_cannot_start_ends_the_roll(trio, done, broken, last)
    while_it_is_gone_no_other_may_stop(trio, done, broken)
    while_it_has_not_caught_up_no_other_may_stop(trio, done, broken)
    one_host_less_is_safe_and_two_are_not(trio)
    a_whole_cluster_goes_down_in_order_and_comes_back(trio)
    assert sent.numbers <= read_back(trio, trio.bootstrap, "broken")
    assert "has no node or host h9" in kcluster(trio, "stop", "h9", "--yes", code=2).stderr


def all_are_restarted_and_who_leads_is_last(trio: Fleet) -> None:
    first = leader(trio, "leader")
    with under_load(trio, trio.bootstrap, "load") as sent:
        steps = json.loads(kcluster(trio, "restart", "--yes", "-o", "json").stdout)["steps"]
    order = [step["node"] for step in steps]
    assert [name.partition("-")[0] for name in order] == ["zookeeper"] * 3 + ["broker"] * 3
    assert order[2] == first
    print(f"longest gap {sent.gap} s, seconds per node {[step['seconds'] for step in steps]}")
    sent.assert_served(1000, LONGEST_GAP)


def a_broker_that_cannot_start_ends_the_roll(trio: Fleet, done: str, broken: str, last: str) -> Load:
    """The one before it is done, the one after it is not touched."""
    host = f"h{broken[-1]}"
    configure(trio, "BROKER", broken[-1], RATE, "1")  # for later, while it can be told
    trio.lab.ssh(host, f"cp -p {CONFIG} {CONFIG}.good; echo num.io.threads=many >> {CONFIG}")
    with under_load(trio, trio.bootstrap, "broken") as sent:
        refused = kcluster(trio, "restart", "broker-1", "broker-2", "broker-3", "--yes", code=5)
    assert f"{broken} on {host} does not start: a setting is refused" in refused.stderr
    assert "Invalid value many for configuration num.io.threads" in refused.stderr
    assert f"restarted: {done}; restarted and not back: {broken}; not touched: {last}" in refused.stderr
    sent.assert_served(longest_gap=LONGEST_GAP)
    return sent


def while_it_is_gone_no_other_may_stop(trio: Fleet, done: str, broken: str) -> None:
    waiting = kcluster(trio, "restart", done, "--yes", "--gate-timeout", "2", code=4)
    assert f"{done} may not stop: {broken} does not answer" in waiting.stderr
    assert trio.lab.ssh(f"h{done[-1]}", "systemctl is-active kafka").strip() == "active"


def while_it_has_not_caught_up_no_other_may_stop(trio: Fleet, done: str, broken: str) -> None:
    """It is back, serves, and is slow with one topic: the roll waits, says for what, and nothing is stopped."""
    configure(trio, "TOPIC", "load", SLOW, "*")
    trio.python(FILL, trio.bootstrap, "load")
    mend = f"mv {CONFIG}.good {CONFIG}; systemctl reset-failed kafka; systemctl start kafka"
    trio.lab.ssh(f"h{broken[-1]}", mend)
    refused_for(
        trio,
        done,
        f"{done} may not stop: in-sync replicas would fall below min.insync.replicas: load-0, load-1, load-2, load-3",
    )
    kcluster(trio, "status")
    configure(trio, "TOPIC", "load", SLOW)
    configure(trio, "BROKER", broken[-1], RATE)
    kcluster(trio, "restart", broken, "--yes")


def one_host_less_is_safe_and_two_are_not(trio: Fleet) -> None:
    refused = kcluster(trio, "stop", "h1", "h2", "--yes", "-o", "json", code=4)
    assert "stop refused: partitions would fall below min.insync.replicas" in refused.stderr
    lists = json.loads(refused.stdout)["error"]["lists"]
    together = next(partitions for text, partitions in lists.items() if "broker-1 and broker-2 together" in text)
    first = f"{', '.join(together[:5])} and {len(together) - 5} more ({len(together)}; all of them: -o json)"
    assert first in refused.stderr
    assert together[5] not in refused.stderr
    kcluster(trio, "stop", "h1", "--yes")
    assert "zookeeper-1 does not serve" in kcluster(trio, "stop", "h2", "--yes", "--gate-timeout", "2", code=4).stderr


def a_whole_cluster_goes_down_in_order_and_comes_back(trio: Fleet) -> None:
    assert "there is no terminal to ask" in kcluster(trio, "stop", code=2).stderr
    stopped = json.loads(kcluster(trio, "stop", "--yes", "-o", "json").stdout)
    assert stopped["stopped"] == ["zookeeper-2", "zookeeper-3", "broker-2", "broker-3"]
    started = json.loads(kcluster(trio, "start", "--yes", "-o", "json").stdout)
    assert len(started["started"]) == 6


def test_a_live_kraft_cluster_is_restarted_by_the_cli_and_by_plain_ansible(running: NewFleet) -> None:
    trio = running(3, TRIO_KRAFT)
    before = elections(trio)
    active = leader(trio, "leader")
    controllers = [f"controller-{number}" for number in (3001, 3002, 3003)]
    with under_load(trio, trio.bootstrap, "cli") as sent:
        steps = json.loads(kcluster(trio, "restart", *controllers, "--yes", "-o", "json").stdout)["steps"]
    assert sorted(step["node"] for step in steps) == controllers
    # A busy machine may take the lead from it before its turn: then another one was the last.
    assert steps[2]["node"] == active or elections(trio) > before + 1
    sent.assert_served()

    before = begun(trio, "kafka-controller", "kafka")
    with under_load(trio, trio.bootstrap, "ansible") as sent:
        trio.ansible("restart.yml")
    after = begun(trio, "kafka-controller", "kafka")
    assert all(after[place] > before[place] for place in after)
    assert [unit for _, unit in sorted(after, key=lambda place: after[place])] == ["kafka-controller"] * 3 + [
        "kafka"
    ] * 3
    print(f"longest gap {sent.gap} s")
    sent.assert_served(longest_gap=LONGEST_GAP)


def begun(fleet: Fleet, *units: str) -> dict[tuple[str, str], int]:
    """When each unit's process began, by the one clock that all lab hosts share."""
    ask = "systemctl show --property ExecMainStartTimestampMonotonic --value"
    return {
        (host.name, unit): int(fleet.lab.ssh(host.name, f"{ask} {unit}")) for host in fleet.lab.hosts for unit in units
    }
