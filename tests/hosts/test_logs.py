"""`kcluster logs` of a cluster on hosts: the last lines of all nodes, and those that come."""

from __future__ import annotations

import signal
import subprocess
from threading import Timer

from kcluster.errors import ExitCode
from tests.hosts.fleet import Fleet
from tests.lab import faults
from tests.lab.machine import wait_until

LOG = "/var/log/kafka/server.log"
PAIR = (("000", "written"), ("001", "rolled"))
LEFT = "pgrep -fc '[p]ython3 -IS|[j]ournalctl' || true"


def until(following: subprocess.Popen[str], words: str) -> list[str]:
    """The lines up to the one with these words."""
    assert following.stdout
    lines = []
    while not lines or words not in lines[-1]:
        lines.append(following.stdout.readline())
        assert lines[-1], f"it ended before {words} came: {''.join(lines)}"
    return lines


def test_the_logs_of_all_hosts_are_one_and_followed_without_loss(living: Fleet) -> None:
    inventory = str(living.inventory)
    every = living.run("logs", "-i", inventory, "--lines", "2000").stdout.splitlines()
    assert {line.partition(" ")[0] for line in every} == {
        *("broker-1", "broker-2", "broker-3"),
        *("zookeeper-1", "zookeeper-2", "zookeeper-3"),
    }
    assert len(living.run("logs", "broker-2", "--lines", "3", "-i", inventory).stdout.splitlines()) == 3
    journal = living.run("logs", "broker-1", "--journal", "-i", inventory).stdout
    assert "Started kafka.service - Kafka broker 1 of trio" in journal
    unknown = living.run("logs", "broker-9", "-i", inventory, check=False)
    assert (unknown.returncode, "has no node or host broker-9" in unknown.stderr) == (ExitCode.USAGE, True)

    with living.process("logs", "-f", "--lines", "6", "-i", inventory) as following:
        patience = Timer(60, following.kill)
        patience.start()
        until(following, "|")
        living.lab.ssh("h2", f"echo '[2099-01-01 00:00:00,000] begun' >>{LOG}")
        until(following, "begun")
        said = []
        for number in range(5):  # the host rolls its log meanwhile, as log4j does
            living.lab.ssh("h2", f"echo '[2099-01-01 00:00:00,000] written {number}' >>{LOG}")
            rolled = f"mv {LOG} {LOG}.{9 - number} && echo '[2099-01-01 00:00:00,001] rolled {number}' >>{LOG}"
            living.lab.ssh("h2", rolled)
            said += [line.strip() for line in until(following, f"rolled {number}") if "2099" in line]
        expected = [f"broker-2    | [2099-01-01 00:00:00,{at}] {word} {n}" for n in range(5) for at, word in PAIR]
        assert said == expected
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=20)
        patience.cancel()
        assert (following.returncode, "Traceback" in errors) == (ExitCode.INTERRUPTED, False)
    for host in living.lab.hosts:
        wait_until(lambda host=host: host.ssh.run(LEFT).strip() == "0", 20, f"nothing follows on {host.name}")  # type: ignore[misc]
    living.lab.ssh("h2", f"mv {LOG}.9 {LOG}; rm {LOG}.?")  # the one that the broker has open

    faults.cable_out(living.lab.host("h3"))
    partly = living.run("logs", "-i", inventory, "--lines", "2000", check=False)
    faults.cable_in(living.lab.host("h3"))
    assert partly.returncode == ExitCode.UNREACHABLE
    *lines, lost, _ = partly.stdout.splitlines()
    assert {line.partition(" ")[0] for line in lines} == {"broker-1", "broker-2", "zookeeper-1", "zookeeper-2"}
    assert "h3" in lost
    living.run("health", "-i", inventory, "--wait", "120s")
