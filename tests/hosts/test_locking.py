"""The lock on real hosts: who is refused, what lets go of it, and when."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.hosts.fleet import Fleet, NewFleet
from tests.lab import faults
from tests.lab.host import Host
from tests.lab.machine import attempt, wait_until

CLUSTER = """
all:
  vars: {{kcluster_name: {name}}}
  children:
    zookeeper: {{hosts: {{{first}: {{zookeeper_id: 1}}}}}}
    kafka_broker: {{hosts: {{{brokers}}}}}
"""
H2 = "    h2: {ansible_user: plain}\n"

RUN = """
import sys
from pathlib import Path
from kcluster import inventory, show
from kcluster.clients.ssh import Connections
from kcluster.errors import KclusterError
from kcluster.inventory.logins import logins
from kcluster.rollout.cluster_lock import locked
path, silence, words = Path(sys.argv[1]), float(sys.argv[2]), ["kcluster", "provision", "-i", sys.argv[1]]
try:
    with Connections(logins(inventory.load(path))) as hosts:
        with locked(inventory.read(path), hosts, words, silence=silence) as lock:
            print("held", flush=True)
            for line in sys.stdin:
                print("lost", *lock.lost, flush=True)
                lock.check()
                print("ours", *lock.lost, flush=True)
except KclusterError as problem:
    show.error(problem)
    sys.exit(problem.exit_code)
"""


class Run:
    """A run that holds a cluster until its input ends."""

    def __init__(self, fleet: Fleet, brokers: str = "h1 h2", name: str = "pair", silence: float = 30.0) -> None:
        inventory = fleet.inventory.parent / f"{name} {brokers}"
        inventory.mkdir(exist_ok=True)
        (inventory / "hosts.yml").write_text((fleet.inventory / "hosts.yml").read_text())
        (inventory / "users.yml").write_text("all:\n  hosts:\n" + H2)
        ids = ", ".join(f"{broker}: {{kafka_broker_id: {broker[1:]}}}" for broker in brokers.split())
        (inventory / "z.yml").write_text(CLUSTER.format(name=name, first=brokers.split()[0], brokers=ids))
        # A home of its own, as a run on another machine has: what refuses it are the hosts.
        environment = ["env", f"KCLUSTER_HOME={fleet.home / str(time.monotonic_ns())}"]
        inside = ["ip", "netns", "exec", fleet.lab.network.namespace, *environment, sys.executable, "-c", RUN]
        pipe = subprocess.PIPE
        command = [*inside, str(inventory), str(silence)]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def says(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def check(self) -> tuple[str, str]:
        """Which hosts it had lost, and what came of it."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.says(), self.says()

    def end(self) -> tuple[int, str]:
        return self.process.communicate(timeout=60)[1], self.process.returncode  # type: ignore[return-value]


@contextmanager
def run(fleet: Fleet, brokers: str = "h1 h2", name: str = "pair", silence: float = 30.0) -> Iterator[Run]:
    """A run that has the lock."""
    made = Run(fleet, brokers, name, silence)
    try:
        assert made.says() == "held", made.process.communicate()[1]
        yield made
        made.process.communicate(timeout=60)
    finally:
        made.process.kill()
        made.process.communicate()


def refused(fleet: Fleet, brokers: str = "h1 h2") -> tuple[int, str]:
    """How a run that does not get the lock ends: its exit code, and what it says."""
    made = Run(fleet, brokers)
    out, error = made.process.communicate(timeout=60)
    assert out == ""
    return made.process.returncode, error


def held(host: Host) -> bool:
    """Whether the lock's program runs on a host, looked at without its network."""
    return attempt("nsenter", "-t", str(host.first_process), "-m", "-p", "pgrep", "-f", r"^python3.*exec\(input")


def test_one_run_holds_all_hosts_and_lets_go_however_it_ends(fleet: NewFleet, tmp_path: Path) -> None:
    pair = fleet(2, "all: {}\n")
    h1, h2 = pair.lab.hosts
    faults.no_sudo(h2)
    h2.ssh.run("echo 'plain ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/plain")

    with run(pair) as first:
        code, said = refused(pair)
        assert code == 7
        assert f"(pid {first.process.pid})" in said
        assert "error: another kcluster run works on pair: root@" in said
        assert "its lock is on h1" in said
        assert "expires within 30 s" in said
        with run(pair, name="other"):  # another cluster on the same hosts is nobody's business
            assert held(h1)
        assert first.check() == ("lost", "ours")
    assert not held(h1)  # an end is waited for
    assert not held(h2)

    with run(pair, "h2") as other:  # one of two hosts is held: the free one is let go again
        code, said = refused(pair)
        assert (code, f"(pid {other.process.pid})" in said, "its lock is on h2" in said) == (7, True, True)
        with run(pair, "h1"):
            assert held(h1)

    with run(pair) as killed:
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait()
        began = time.monotonic()
        wait_until(lambda: not held(h1) and not held(h2), 20, "the hosts let go")
        assert time.monotonic() - began < 15.0  # a tenth of a second where nothing else works; silence would take 30
        with run(pair):
            assert held(h2)

    with run(pair) as again:  # the program dies on a host, or the connection does: the run takes the host again
        h2.ssh.run("pkill -KILL -f '^python3.*exec.input'")
        wait_until(lambda: not held(h2), 20, "the program on h2 ended")
        wait_until(lambda: again.check()[1] == "ours" and held(h2), 20, "h2 is held again")
        faults.drop_ssh(h1)
        wait_until(lambda: not held(h1), 20, "the program on h1 ended")
        wait_until(lambda: again.check()[1] == "ours" and held(h1), 20, "h1 is held again")
        assert refused(pair)[0] == 7

    faults.power_cut(h2)  # one host cannot be asked: the error is the connection's, and the other is free
    code, said = refused(pair)
    assert (code, "h2: " in said) == (6, True)
    assert not held(h1)


def test_hosts_that_hear_nothing_of_a_run_let_go_and_the_run_finds_out(fleet: NewFleet) -> None:
    pair = fleet(2, "all: {}\n")
    h1, h2 = pair.lab.hosts
    faults.no_sudo(h2)
    h2.ssh.run("echo 'plain ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/plain")
    with run(pair, silence=3.0) as cut:
        for host in (h1, h2):
            faults.cable_out(host)
        began = time.monotonic()
        assert held(h1)
        wait_until(lambda: not held(h1) and not held(h2), 10, "the hosts let go")
        assert 1.5 < time.monotonic() - began < 8.0
        for host in (h1, h2):
            faults.cable_in(host)
        with run(pair) as next_one:
            wait_until(lambda: cut.process.poll() is not None or cut.check()[1] != "ours", 30, "the first run stops")
            said = cut.process.communicate(timeout=30)[1]
            assert cut.process.returncode == 7
            assert f"(pid {next_one.process.pid})" in said
            assert held(h1)
            assert held(h2)
