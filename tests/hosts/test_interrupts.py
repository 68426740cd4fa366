"""Ctrl-C and a pulled cable in the middle of a change: what is said, what is left, and that the next run mends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from kcluster.errors import ExitCode
from tests.hosts.fleet import TRIO_KRAFT, Fleet, NewFleet
from tests.hosts.under_load import under_load
from tests.lab import faults
from tests.lab.host import Host
from tests.lab.machine import run as shell
from tests.lab.machine import wait_until

RELEASE = "kafka_2.13-4.2.0"
PUSHING = f"/opt/kafka/.{RELEASE}.partial"
"""There while a release arrives on a host."""
ENDS_WITHIN = 40.0
"""Seconds from Ctrl-C to the end of a run: what the hosts have begun is ended, and their lock let go."""
CABLE_NOTICED_WITHIN = 90.0
"""Seconds after which a run says that a host does not answer any more."""
STRAY = """
ps -eo pid=,args= | grep -E '[p]ython3|[j]ava ' | while read pid rest; do
  grep -qE '/(kafka|kafka-controller|zookeeper).service' /proc/$pid/cgroup || echo "$pid $rest" | cut -c1-200
done
for lock in /run/lock/kcluster-*; do [ ! -e $lock ] || flock -n $lock true || echo $lock is held; done
"""
"""Tells Python of ours on a host, Java that no unit has started, and who holds the cluster."""


def inside(host: Host, script: str) -> str:
    """What a shell says on a host, asked without its network."""
    return shell("nsenter", "-t", str(host.first_process), "-a", "sh", "-c", f"{script}\n:")


def active(host: Host, unit: str) -> str:
    return inside(host, f"systemctl is-active {unit}").strip()


def process(host: Host, unit: str) -> str:
    return inside(host, f"systemctl show --property MainPID --value {unit}").strip()


def begin(fleet: Fleet, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return fleet.process(*words, "-i", str(fleet.inventory), own_group=True)


def at_work(process: subprocess.Popen[str], moment: Callable[[], bool], what: str, seconds: float = 90) -> None:
    """Wait for a moment of a run that is not over yet."""
    wait_until(lambda: process.poll() is not None or moment(), seconds, what)
    assert process.poll() is None, process.communicate()


def ctrl_c(process: subprocess.Popen[str], within: float = ENDS_WITHIN) -> str:
    """What a run says when the terminal interrupts it; it ends soon, with the code of an interrupted one."""
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    spent = time.monotonic() - began
    assert process.returncode == ExitCode.INTERRUPTED, said
    assert "Traceback" not in said
    assert spent < within, f"{spent:.1f} s: {said}"
    return said


def quiet(fleet: Fleet) -> None:
    """Nothing of ours works on any host any more, and nobody holds the cluster."""
    for host in fleet.lab.hosts:
        wait_until(lambda host=host: not inside(host, STRAY), 120, f"only nodes run on {host.name}")  # type: ignore[misc]


def told(fleet: Fleet, *words: str) -> Any:
    return json.loads(fleet.run(*words, "-i", str(fleet.inventory), "-o", "json").stdout)


def last_run(fleet: Fleet) -> str:
    return str(told(fleet, "history")["runs"][-1]["outcome"])


def all_run(fleet: Fleet) -> bool:
    return fleet.run("status", "-i", str(fleet.inventory), check=False).returncode == 0


def test_a_check_that_waits_for_a_host_is_interrupted_at_once(living: Fleet) -> None:
    h3 = living.lab.host("h3")
    faults.freeze(h3)
    try:
        with begin(living, "check") as checking:
            talks = ["ss", "-Htnp", "state", "established", "dst", h3.address]
            at_work(checking, lambda: f"pid={checking.pid}," in living.lab.run(talks).stdout, "h3 is asked")
            ctrl_c(checking, within=10)
    finally:
        faults.thaw(h3)
    quiet(living)
    living.run("health", "-i", str(living.inventory), "--wait", "120s")


def test_a_first_run_that_is_interrupted_or_cut_off_is_mended_by_the_next(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_KRAFT)
    h1, h2, h3 = trio.lab.hosts

    planned = len(told(trio, "plan")["changes"])  # one or two more where the machine's kernel is not as Kafka wants it

    # Ctrl-C while the release is on its way to two of three hosts.
    faults.thin_link(h2, "30mbit")
    faults.thin_link(h3, "30mbit")
    with begin(trio, "provision", "--yes") as run:
        at_work(run, lambda: all(inside(host, f"ls -d {PUSHING}") for host in (h2, h3)), "the release is on its way")
        assert "python3" in inside(h2, STRAY)
        said = ctrl_c(run)
    assert f"interrupted in: apply with Ansible: {planned} changes, 6 starts; changes so far stay" in said
    quiet(trio)
    assert last_run(trio) == "interrupted"
    assert inside(h2, "ls -A /opt/kafka") == inside(h3, "ls -A /opt/kafka") == ""
    faults.wide_link(h2)

    # The cable of one host comes out while the release is on its way.
    with begin(trio, "provision", "--yes") as run:
        at_work(run, lambda: bool(inside(h3, f"ls -d {PUSHING}")), "the release is on its way to h3")
        faults.cable_out(h3)
        began = time.monotonic()
        _, said = run.communicate(timeout=200)
    assert run.returncode == ExitCode.UNREACHABLE, said
    assert "error: h3 cannot be reached: " in said
    assert time.monotonic() - began < CABLE_NOTICED_WITHIN
    assert active(h1, "kafka") == "inactive"  # without one host nothing is started
    faults.wide_link(h3)
    faults.cable_in(h3)

    # Plugged in again, the next run goes on, until Ctrl-C while nodes start.
    with begin(trio, "provision", "--yes") as run:
        at_work(run, lambda: active(h1, "kafka-controller") == "active", "a node was started", 180)
        said = ctrl_c(run)
    assert "started nodes run on; run it again to finish" in said
    quiet(trio)
    assert last_run(trio) == "interrupted"
    assert active(h1, "kafka-controller") == "active"

    assert told(trio, "provision", "--yes")["holds"] is True
    assert all_run(trio)
    outcomes = [run["outcome"] for run in told(trio, "history")["runs"]]
    assert outcomes == ["interrupted", "failed", "interrupted", "done"]


def test_a_rolling_restart_that_is_interrupted_leaves_no_node_stopped_and_loses_nothing(living: Fleet) -> None:
    brokers = ("broker-1", "broker-2", "broker-3")
    with under_load(living, living.bootstrap, "interrupted") as load:
        before = {host.name: process(host, "kafka") for host in living.lab.hosts}
        with begin(living, "restart", *brokers, "--yes") as run:
            done = restarting(run, "(1 of 3)")
            in_hand = restarting(run, "(2 of 3)")
            host = living.lab.host(f"h{in_hand[-1]}")
            at_work(run, lambda: process(host, "kafka") != before[host.name], f"{in_hand} is down")
            said = ctrl_c(run)
        (left,) = set(brokers) - {done, in_hand}
        assert f"restarted: {done}; being restarted: {in_hand}; not touched: {left}" in said
        assert last_run(living) == "interrupted"
        quiet(living)
        wait_until(lambda: active(host, "kafka") == "active", 60, f"{in_hand} is started again")
        # Stopped while it starts, it would leave its registration behind, and systemd would have to try twice.
        living.run("health", "-i", str(living.inventory), "--wait", "120s")
        steps = told(living, "restart", in_hand, left, "--yes")["steps"]
    assert {step["node"] for step in steps} == {in_hand, left}
    assert all_run(living)
    load.assert_served()


def restarting(run: subprocess.Popen[str], number: str) -> str:
    """The node whose turn it is, when a run says so."""
    assert run.stderr
    said = []
    while number not in (line := run.stderr.readline()):
        assert line, said
        said.append(line)
    return re.search(r"restarting (\S+) on", line)[1]  # type: ignore[index]
