"""Each fault really does what it says, seen from the host, from its peers and from us."""

from __future__ import annotations

import subprocess
import time

import pytest

from tests.children import child
from tests.lab import Lab, LabError, faults
from tests.lab.host import Host
from tests.lab.machine import attempt, wait_until

LISTEN = "import socket; s = socket.create_server(('', 7000)); c = s.accept(); c[0].recv(1)"
CONNECT = "import socket; s = socket.create_connection(('h1', 7000)); s.recv(1)"
STOPPING = (
    "[Service]\nExecStart=/bin/sleep 1000\nExecStop=/bin/touch /root/stopped\n[Install]\nWantedBy=multi-user.target\n"
)

SOON = 30
"""Seconds for what takes a moment on a machine that has nothing else to do."""


def hears(lab: Lab, host: str, other: str) -> bool:
    return lab.ssh(host, f"timeout 0.5 bash -c 'head -c 3 </dev/tcp/{other}/22' || true") == "SSH"


def wait_to_hear(lab: Lab, host: str, other: str) -> None:
    wait_until(lambda: hears(lab, host, other), SOON, f"{host} hears {other}")


def connect(lab: Lab) -> None:
    """A connection from h2 to h1 that stays open as long as unit `peer` runs on h2."""
    lab.ssh("h1", f'systemd-run -q --unit=listen python3 -c "{LISTEN}"')
    wait_until(lambda: ":7000" in lab.ssh("h1", "ss -ltn"), SOON, "h1 listens")
    lab.ssh("h2", f'systemd-run -q --unit=peer python3 -c "{CONNECT}"')
    wait_until(lambda: connected(lab), SOON, "h2 is connected")


def connected(lab: Lab) -> bool:
    return "ESTAB" in lab.ssh("h2", "ss -tn dport = :7000")


def seconds(command: list[str], size: int) -> float:
    """How long a program takes to eat so many bytes."""
    begin = time.monotonic()
    subprocess.run(command, input=bytes(size), check=True, capture_output=True)
    return time.monotonic() - begin


def test_after_a_power_cut_peers_only_hear_silence_and_the_disk_is_there_again(trio: Lab) -> None:
    host = trio.host("h1")
    trio.ssh("h1", "echo kept >/root/kept; sync")
    before = trio.ssh("h1", "cat /proc/sys/kernel/random/boot_id")
    connect(trio)
    faults.power_cut(host)
    assert host.state == "off"
    assert connected(trio)  # no FIN, no RST
    faults.boot(host)
    assert trio.ssh("h1", "cat /root/kept") == "kept\n"
    assert trio.ssh("h1", "cat /proc/sys/kernel/random/boot_id") != before
    assert connected(trio)  # the old connection never learns of it by itself
    trio.ssh("h2", "systemctl stop peer")


def test_a_killed_process_tells_its_peers_and_comes_back_if_its_unit_says_so(trio: Lab) -> None:
    connect(trio)
    faults.kill_unit(trio.host("h1"), "listen")
    wait_until(lambda: not connected(trio), SOON, "h2 hears that the listener died")
    trio.ssh("h1", "systemctl reset-failed; systemd-run -q --unit=worker -p Restart=always -p RestartSec=0 sleep 1000")
    before = trio.ssh("h1", "systemctl show -P MainPID worker")
    faults.kill_unit(trio.host("h1"), "worker")
    wait_until(lambda: trio.ssh("h1", "systemctl show -P NRestarts worker") == "1\n", SOON, "worker restarted")
    assert trio.ssh("h1", "systemctl show -P MainPID worker") != before


def test_an_orderly_shutdown_stops_units_and_a_power_cut_does_not(trio: Lab) -> None:
    host = trio.host("h3")
    trio.ssh("h3", "cat >/etc/systemd/system/job.service && systemctl enable -q --now job", input=STOPPING)
    faults.power_cut(host)
    faults.boot(host)
    assert trio.ssh("h3", "systemctl is-active job; ls /root") == "active\n"
    faults.shutdown(host)
    assert host.state == "off"
    faults.boot(host)
    assert trio.ssh("h3", "systemctl is-active job; ls /root") == "active\nstopped\n"


def test_a_frozen_host_takes_connections_and_does_nothing(trio: Lab) -> None:
    host = trio.host("h1")
    trio.ssh("h1", "systemd-run -q --unit=count bash -c 'while sleep 0.01; do echo >>/root/count; done'")
    count = host.root / "root/count"
    wait_until(count.exists, SOON, "h1 counts")
    faults.freeze(host)
    assert host.state == "frozen"
    before = count.stat().st_size
    assert trio.ssh("h2", f"timeout 1 bash -c ': </dev/tcp/{host.address}/22' && echo taken") == "taken\n"
    assert not host.ssh.answers()
    assert count.stat().st_size == before
    faults.thaw(host)
    wait_until(lambda: host.ssh.answers(5), SOON, "h1 answers again")
    wait_until(lambda: count.stat().st_size > before, SOON, "h1 goes on")


def test_a_pulled_cable_is_silence_until_it_is_in_again(trio: Lab) -> None:
    host = trio.host("h1")
    connect(trio)
    faults.cable_out(host)
    show = f"ip -n {host.cable.namespace} link show eth0"
    wait_until(lambda: "NO-CARRIER" in subprocess.getoutput(show), SOON, "h1 misses its cable")
    assert not host.ssh.answers()
    assert not hears(trio, "h2", host.address)
    faults.cable_in(host)
    assert connected(trio)
    trio.ssh("h2", "systemctl stop peer")


def test_a_partition_separates_two_hosts_both_ways_and_nobody_else(trio: Lab) -> None:
    one, other = trio.host("h1"), trio.host("h2")
    faults.partition(one, other)
    assert [hears(trio, *pair) for pair in (("h1", "h2"), ("h2", "h1"))] == [False, False]
    for pair in (("h1", "h3"), ("h3", "h1"), ("h2", "h3"), ("h3", "h2")):
        wait_to_hear(trio, *pair)
    faults.heal(other, one)
    wait_to_hear(trio, "h1", "h2")
    wait_to_hear(trio, "h2", "h1")


def test_behind_a_firewall_this_machine_reaches_ssh_alone_and_the_other_hosts_reach_everything(trio: Lab) -> None:
    host = trio.host("h1")
    trio.ssh("h1", "systemd-run -q --unit=pages python3 -m http.server 7000")
    wait_until(lambda: ":7000" in trio.ssh("h1", "ss -ltn"), SOON, "h1 listens")
    knock = f"timeout 0.5 bash -c '</dev/tcp/{host.address}/7000' && echo open || true"
    here = ["ip", "netns", "exec", trio.network.namespace, "bash", "-c", f"{{ {knock}; }} 2>&1"]
    wait_until(lambda: subprocess.check_output(here, text=True) == "open\n", SOON, "the port is open to us")
    faults.ssh_only(host)
    assert subprocess.check_output(here, text=True) == ""
    wait_until(lambda: trio.ssh("h2", knock) == "open\n", SOON, "the port is open to h2")
    assert host.ssh.answers(10)
    faults.every_port(host)
    wait_until(lambda: subprocess.check_output(here, text=True) == "open\n", SOON, "the port is open to us again")


def test_a_thin_link_is_thin_both_ways(trio: Lab) -> None:
    host, size = trio.host("h1"), 1_000_000
    into, out = host.ssh.command("cat >/dev/null"), host.ssh.command(f"head -c {size} /dev/zero")
    faults.thin_link(host, "8mbit")
    thin = seconds(into, size), seconds(out, 0)
    faults.wide_link(host)
    assert min(thin) > 0.9  # one second, less what the bucket lets through at once
    wait_until(lambda: max(seconds(into, size), seconds(out, 0)) < min(thin), SOON, "the link is wide")


def test_a_full_disk_takes_nothing_until_there_is_room(trio: Lab) -> None:
    host: Host = trio.host("h1")
    faults.small_disk(host, "/srv/data", 8)
    trio.ssh("h1", "echo before >/srv/data/before; sync")
    faults.fill_disk(host, "/srv/data")
    with pytest.raises(LabError) as raised:
        trio.ssh("h1", "head -c 100000 /dev/zero >/srv/data/more")
    assert "No space left on device" in raised.value.details
    faults.power_cut(host)
    faults.boot(host)
    assert trio.ssh("h1", "cat /srv/data/before; df --output=avail /srv/data").split() == ["before", "Avail", "0"]
    faults.free_disk(host, "/srv/data")
    trio.ssh("h1", "head -c 100000 /dev/zero >/srv/data/more")
    faults.lose_disk(host, "/srv/data")
    assert trio.ssh("h1", "ls -A /srv/data; mountpoint -q /srv/data || echo none") == "none\n"


def test_only_a_small_disk_can_be_filled(trio: Lab) -> None:
    with pytest.raises(LabError, match="no small disk at /var"):
        faults.fill_disk(trio.host("h1"), "/var")


def test_dropped_ssh_breaks_the_session_and_not_the_host(trio: Lab) -> None:
    host = trio.host("h1")
    with child(host.ssh.command("sleep 1234"), stderr=subprocess.PIPE) as session:
        wait_until(lambda: "1234" in trio.ssh("h1", "ps ax -o args | grep ^sleep || true"), SOON, "the session runs")
        faults.drop_ssh(host)
        assert session.wait(SOON) == 255
    assert "sleep 1234" in trio.ssh("h1", "ps ax -o args")
    trio.ssh("h1", "pkill -f 'sleep 123[4]'")


def test_accounts_without_sudo_and_with_a_password(trio: Lab) -> None:
    faults.no_sudo(trio.host("h1"), "plain")
    faults.sudo_asks(trio.host("h1"), "asked")
    assert trio.ssh("h1", "id -un", user="plain") == "plain\n"
    with pytest.raises(LabError, match="sudo -n true"):
        trio.ssh("h1", "sudo -n true", user="plain")
    with pytest.raises(LabError, match="sudo -n true"):
        trio.ssh("h1", "sudo -n true", user="asked")
    asked = trio.ssh("h1", "sudo -S -p '' id -un", user="asked", input=f"{faults.PASSWORD}\n")
    assert asked == "root\n"


def test_a_new_host_key_is_refused_until_it_is_trusted(trio: Lab) -> None:
    faults.new_host_key(trio.host("h2"))
    with pytest.raises(LabError) as raised:
        trio.ssh("h2", "true")
    assert "Host key verification failed" in raised.value.details
    trio.trust()
    assert trio.ssh("h2", "uname -n") == "h2\n"
    assert attempt(*trio.host("h1").ssh.command("true"))
