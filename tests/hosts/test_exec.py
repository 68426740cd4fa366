"""`kcluster exec` on real hosts."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.hosts.fleet import TRIO_ZK, NewFleet
from tests.lab import faults
from tests.lab.machine import wait_until


def test_a_command_runs_on_all_hosts_and_ends_with_us(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_ZK)
    inventory = ("-i", str(trio.inventory))

    # several hosts: each line says whose it is; one host: its lines as they are
    done = trio.run("exec", *inventory, "--", "uname -n; echo aside >&2")
    assert sorted(done.stdout.splitlines()) == ["h1 | h1", "h2 | h2", "h3 | h3"]
    assert sorted(done.stderr.splitlines()) == ["h1 | aside", "h2 | aside", "h3 | aside"]
    assert trio.run("exec", *inventory, "broker-2", "--", "uname", "-n").stdout == "h2\n"
    assert trio.run("exec", *inventory, "h1", "--", "printf", "%s,", "a  b", "$HOME", "-i").stdout == "a  b,$HOME,-i,\n"

    # a failure says where, in words and in JSON
    fails = "test $(uname -n) != h2 || exit 7"
    done = trio.run("exec", *inventory, "--", fails, check=False)
    assert (done.returncode, done.stderr) == (4, "error: the command failed on h2 (code 7)\n")
    done = trio.run("exec", *inventory, "-o", "json", "--", "echo out; echo err >&2; " + fails, check=False)
    assert done.returncode == 4
    assert {each["host"]: each["code"] for each in json.loads(done.stdout)} == {"h1": 0, "h2": 7, "h3": 0}
    assert {(each["stdout"], each["stderr"]) for each in json.loads(done.stdout)} == {("out\n", "err\n")}

    # much of it, and broken pieces
    assert len(trio.run("exec", *inventory, "h1", "--", "seq 200000").stdout.splitlines()) == 200_000
    assert trio.run("exec", *inventory, "h1", "--", "head -c 3 /dev/zero | tr '\\0' '\\377'").stdout == "���\n"

    # Ctrl-C ends the command there too
    with trio.process("exec", *inventory, "--become", "--", "echo begun; sleep 4321") as process:
        assert process.stdout is not None
        assert {process.stdout.readline() for _ in range(3)} == {"h1 | begun\n", "h2 | begun\n", "h3 | begun\n"}
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    for host in trio.lab.hosts:
        wait_until(lambda host=host: not host.ssh.run("pgrep -x sleep || true"), 20, f"no sleep on {host.name}")  # type: ignore[misc]

    # a connection that breaks in the middle
    with trio.process("exec", *inventory, "h3", "--", "echo begun; sleep 4321") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        faults.drop_ssh(trio.lab.host("h3"))
        assert process.wait(20) == 6
        assert "h3: the connection was lost while a command ran" in process.communicate()[1]


def test_what_is_not_a_command_for_separate_hosts_is_refused(fleet: NewFleet, tmp_path: Path) -> None:
    trio = fleet(1, TRIO_ZK)
    done = trio.run("exec", "-i", str(trio.inventory), "h1", "uptime", check=False)
    assert done.returncode == 2
    assert "no command given" in done.stderr
    done = trio.run("exec", "-i", str(trio.inventory), "h9", "--", "uptime", check=False)
    assert done.returncode == 2
    assert "trio has no node or host h9" in done.stderr
    done = trio.run("exec", "-i", "inventories/local", "--", "uptime", check=False)
    assert done.returncode == 2
    assert "is a cluster on this machine" in done.stderr
