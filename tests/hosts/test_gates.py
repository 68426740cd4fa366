"""The gates on real hosts: they ask what runs, whatever the inventory wants meanwhile."""

from __future__ import annotations

import json
import re
import signal
import time

from tests.hosts.fleet import TRIO_ZK, Fleet, NewFleet, served
from tests.hosts.under_load import under_load
from tests.lab import faults
from tests.lab.machine import wait_until

MOVED = TRIO_ZK.replace("  children:", "    kafka_listeners: [{name: internal, port: 9192}]\n  children:", 1)
TAKE_OVER = """
lock=/run/lock/kcluster-trio.lock
for fds in /proc/[0-9]*/fd
do ls -l $fds 2>/dev/null | grep -q $lock && kill $(echo $fds | cut -d/ -f3)
done
systemd-run --unit taken --quiet flock $lock sleep 600
until ! flock -n $lock true; do :; done
echo '{"user": "night", "machine": "watch", "pid": 7, "words": ["kcluster"]}' >$lock
"""
"""What a run on another machine does with a lock whose owner was silent for too long."""
FROZEN_AT_START = """
systemctl restart kafka
pid=$(systemctl show kafka --property MainPID --value)
until grep -qs java /proc/$pid/comm; do :; done
kill -STOP $pid
echo $pid
"""
SILENT_FOR_3_S = """
ss -tniH state established dst 10.77.0.11:9092 | grep -o 'lastrcv:[0-9]*' | cut -d: -f2 | sort -n | head -n 1 |
    awk '{print ($1 > 3500) ? "yes" : "no"}'
"""
WAIT_IN_SYNC = """
import sys, time
from confluent_kafka.admin import AdminClient

client = AdminClient({"bootstrap.servers": sys.argv[1]})
while {len(p.isrs) for t in client.list_topics(timeout=9).topics.values() for p in t.partitions.values()} != {3}:
    time.sleep(0.2)
"""
EDITED_AT_THE_QUESTION = """
import runpy, sys
from pathlib import Path
from kcluster.commands import options

file = Path(sys.argv.pop(1))
options.confirm = lambda question, yes: file.write_text(file.read_text().replace("9192", "9193"))
runpy.run_module("kcluster", run_name="__main__")
"""
STARTED = "systemctl show kafka --property ActiveEnterTimestampMonotonic --value"


def test_who_is_down_cut_off_or_starting_closes_the_gate_wherever_the_inventory_moves(running: NewFleet) -> None:
    trio = with_a_safe_topic(running)
    with_a_broker_down_no_other_may_stop(trio)
    a_follower_that_is_cut_off_does_not_count_though_the_isr_lists_it(trio)
    a_broker_that_starts_is_waited_for_and_not_restarted(trio)
    without_a_zookeeper_quorum_the_truth_is_told(trio)


def test_what_was_agreed_to_is_done_with_the_lock_held_and_nothing_else(running: NewFleet) -> None:
    trio = with_a_safe_topic(running)
    a_run_that_slept_while_another_took_the_lock_stops_nothing(trio)
    what_was_agreed_is_what_is_done(trio)
    the_port_moves_under_load(trio)


def with_a_safe_topic(running: NewFleet) -> Fleet:
    trio = running(3, TRIO_ZK)
    trio.run("topic", "create", "safe", "-p", "3", "-r", "3", "-c", "min.insync.replicas=2", "-b", trio.bootstrap)
    return trio


def with_a_broker_down_no_other_may_stop(trio: Fleet) -> None:
    wait_until(lambda: ok_to_stop(trio, "broker-1") == (0, ["broker-1"], {}), 30, "all fetch of the new topic")
    assert ok_to_stop(trio, "h2") == (0, ["h2"], {})
    code, safe_set, reasons = ok_to_stop(trio, "broker-1", "broker-2")
    assert (code, safe_set) == (4, [])
    together = "broker-1 and broker-2 together hold too many replicas of these partitions"
    assert {"safe-0", "safe-1", "safe-2"} <= set(reasons[together])
    assert "without zookeeper-1, zookeeper-2 there is no majority" in str(ok_to_stop(trio, "h1", "h2"))
    trio.lab.ssh("h3", "systemctl stop kafka")
    trio.write(MOVED)
    code, _, reasons = ok_to_stop(trio, "broker-1")
    assert (code, any(text.startswith("broker-3 does not answer") for text in reasons)) == (4, True)
    assert {"safe-0", "safe-1", "safe-2"} <= set(reasons["in-sync replicas would fall below min.insync.replicas"])
    before = trio.lab.ssh("h1", STARTED)
    done = trio.run("restart", "broker-1", "-i", str(trio.inventory), "--yes", "--gate-timeout", "2", check=False)
    assert done.returncode == 4, done.stderr
    assert "broker-1 may not stop: broker-3 does not answer" in done.stderr
    assert trio.lab.ssh("h1", STARTED) == before
    trio.write(TRIO_ZK)
    served(trio)


def ok_to_stop(trio: Fleet, *names: str) -> tuple[int, list[str], dict[str, list[str]]]:
    """The exit code, the safe set, and the partitions of each reason."""
    done = trio.run("ok-to-stop", *names, "-i", str(trio.inventory), "-o", "json", check=False)
    verdict = json.loads(done.stdout)
    reasons = {reason["text"]: reason["partitions"] for reason in verdict["reasons"]}
    assert verdict["ok"] == (not reasons)
    return done.returncode, verdict["safe_set"], reasons


def a_follower_that_is_cut_off_does_not_count_though_the_isr_lists_it(trio: Fleet) -> None:
    h1, h2, h3 = trio.lab.hosts
    before = trio.lab.ssh("h1", STARTED)
    for other in (h1, h2):
        faults.partition(h3, other)
    wait_until(lambda: trio.lab.ssh("h3", SILENT_FOR_3_S).strip() == "yes", 20, "h3 hears nothing of h1")
    done = trio.run("restart", "broker-1", "-i", str(trio.inventory), "--yes", "--gate-timeout", "1", check=False)
    assert done.returncode == 4, done.stderr
    assert re.search(r"broker-3 received nothing for \d+ s from broker-1, which it must follow", done.stderr)
    assert trio.lab.ssh("h1", STARTED) == before
    for other in (h1, h2):
        faults.heal(h3, other)
    trio.python(WAIT_IN_SYNC, trio.bootstrap)


def without_a_zookeeper_quorum_the_truth_is_told(trio: Fleet) -> None:
    """Brokers serve on, and whoever asks them for configuration waits for ZooKeeper."""
    for host in ("h2", "h3"):
        trio.lab.ssh(host, "systemctl stop zookeeper")
    began = time.monotonic()
    health = trio.run("health", "-i", str(trio.inventory), check=False)
    assert health.returncode == 4
    assert "quorum lost, brokers serve on and metadata cannot change" in " ".join(health.stdout.split())
    assert "no broker answers" not in health.stdout
    done = trio.run("restart", "broker-1", "-i", str(trio.inventory), "--yes", "--gate-timeout", "1", check=False)
    assert (done.returncode, "the ZooKeeper quorum is lost" in done.stderr) == (4, True), done.stderr
    assert time.monotonic() - began < 20, "each of the two waited for an answer of 10 s"
    for host in ("h2", "h3"):
        trio.lab.ssh(host, "systemctl start zookeeper")
    served(trio)


def a_broker_that_starts_is_waited_for_and_not_restarted(trio: Fleet) -> None:
    """Its unit is active and its port is not open yet: as while it recovers its logs, for as long as that takes."""
    pid = trio.lab.ssh("h3", FROZEN_AT_START).strip()
    for node, why in (("broker-3", "broker-3 is starting"), ("broker-1", "broker-3 does not answer (it is starting")):
        done = trio.run("restart", node, "-i", str(trio.inventory), "--yes", "--gate-timeout", "2", check=False)
        assert (done.returncode, why in done.stderr) == (4, True), done.stderr
    assert trio.lab.ssh("h3", "systemctl show kafka --property MainPID --value").strip() == pid
    trio.lab.ssh("h3", f"kill -CONT {pid}")
    trio.python(WAIT_IN_SYNC, trio.bootstrap)
    assert trio.lab.ssh("h3", "systemctl show kafka --property MainPID --value").strip() == pid


def a_run_that_slept_while_another_took_the_lock_stops_nothing(trio: Fleet) -> None:
    """Its gate was closed when it fell asleep; when it wakes the gate is open, and the lock is another run's."""
    trio.lab.ssh("h3", "systemctl stop kafka")
    before = trio.lab.ssh("h1", STARTED)
    with trio.process("restart", "broker-1", "-i", str(trio.inventory), "--yes") as sleeper:
        assert sleeper.stderr is not None
        assert any("broker-3 does not answer" in line for line in sleeper.stderr)
        sleeper.send_signal(signal.SIGSTOP)
        for host in trio.lab.hosts:
            trio.lab.ssh(host.name, TAKE_OVER)
        trio.lab.ssh("h3", "systemctl start kafka")
        trio.python(WAIT_IN_SYNC, trio.bootstrap)
        sleeper.send_signal(signal.SIGCONT)
        said = sleeper.stderr.read()
        assert sleeper.wait(60) == 7, said
    assert "another kcluster run works on trio: night@watch (pid 7)" in said
    assert trio.lab.ssh("h1", STARTED) == before
    for host in trio.lab.hosts:
        trio.lab.ssh(host.name, "systemctl stop taken")


def what_was_agreed_is_what_is_done(trio: Fleet) -> None:
    """An inventory that is edited after its plan was shown is not applied, whether the plan is in a file or not."""
    at = ("-i", str(trio.inventory))
    kept = str(trio.home / "move.plan")
    assert trio.run("plan", *at, "--exit-code", check=False).returncode == 0
    trio.write(MOVED)
    assert trio.run("plan", *at, "--exit-code", "--out", kept, check=False).returncode == 2
    before = trio.lab.ssh("h1", "cat /etc/kafka/server.properties")
    trio.write(MOVED.replace("9192", "9193"))
    done = trio.run("provision", *at, "--plan", kept, check=False)
    assert done.returncode == 4, done.stderr
    assert "the inventory of trio has changed since the plan was made" in done.stderr
    trio.write(MOVED)
    done = trio.python(EDITED_AT_THE_QUESTION, str(trio.inventory / "cluster.yml"), "provision", *at, check=False)
    assert done.returncode == 5, done.stderr
    assert "the inventory of trio was changed after its plan was shown" in done.stderr
    assert trio.lab.ssh("h1", "cat /etc/kafka/server.properties") == before
    trio.write(MOVED)


def the_port_moves_under_load(trio: Fleet) -> None:
    """With the plan that was kept, so that nobody is asked."""
    kept = str(trio.home / "move.plan")
    with under_load(trio, trio.bootstrap, "moved") as load:
        done = json.loads(trio.run("provision", "-i", str(trio.inventory), "--plan", kept, "-o", "json").stdout)
        load.bootstrap = done["bootstrap"]
    assert sorted(line.split()[0] for line in done["restarted"]) == ["broker-1", "broker-2", "broker-3"]
    assert done["bootstrap"] == ",".join(f"{host.address}:9192" for host in trio.lab.hosts)
    load.assert_served()
