"""The ways into hosts, and what is said when one is closed; asked of the real CLI with `kcluster exec`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.children import child
from tests.hosts.fleet import TRIO_ZK, Fleet, NewFleet
from tests.lab import faults
from tests.lab.host import Host

ENTERED = "echo ${SSH_CONNECTION%% *} ${SSH_CONNECTION##* } $(id -un) $(uname -n)"


def describe(fleet: Fleet, host: Host, ways: Mapping[str, Mapping[str, object]]) -> None:
    """One host under many names, each entered in another way: Ansible reads the inventory once for all of them."""
    common = shlex.join(host.ssh.options)
    standard = {"host": host.address, "user": "root", "ssh_private_key_file": str(host.image.key)}
    hosts: dict[str, dict[str, Any]] = {}
    for number, (name, way) in enumerate(ways.items(), 1):
        said = {**standard, "ssh_common_args": common, **way}
        hosts[name] = {f"ansible_{key}": value for key, value in said.items()} | {"kafka_broker_id": number}
        hosts[name]["kafka_listeners"] = [{"name": "internal", "port": 9092, "advertised_host": name}]
    first = {next(iter(ways)): {"zookeeper_id": 1}}
    groups = {"zookeeper": {"hosts": first}, "kafka_broker": {"hosts": hosts}}
    fleet.write(yaml.safe_dump({"all": {"vars": {"kcluster_name": "ways"}, "children": groups}}))


def run(
    fleet: Fleet, *words: str, code: int = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `kcluster exec` and expect a code."""
    done = fleet.run("exec", "-i", str(fleet.inventory), *words, check=False, env=env)
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    return done


def follow(fleet: Fleet, said: str) -> None:
    """Do what the error says."""
    line = re.sub(".*try: (if that is right: )?", "", said.strip().splitlines()[-1])
    done = fleet.lab.run(["bash", "-c", line])
    assert done.returncode == 0, done


def options(known_hosts: Path) -> str:
    """What ssh is told when it may know nothing of this machine but a file of keys."""
    files = ("-o", f"UserKnownHostsFile={known_hosts}", "-o", "GlobalKnownHostsFile=/dev/null")
    return shlex.join(["-F", "/dev/null", *files])


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An ssh-agent without keys."""
    socket = tmp_path / "agent"
    with child(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL) as process:
        while not socket.exists() and process.poll() is None:
            time.sleep(0.01)
        yield {"SSH_AUTH_SOCK": str(socket)}
        process.terminate()


def test_hosts_are_entered_as_people_have_it(fleet: NewFleet, tmp_path: Path, agent: dict[str, str]) -> None:
    pair = fleet(2, TRIO_ZK)
    h1, h2 = pair.lab.hosts
    lab_known, known, config, included = pair.lab.folder / "known_hosts", *map(tmp_path.joinpath, ("k", "c", "i"))

    # another port and user; known by a hashed name with its port; an alias; a file that the configuration includes
    faults.no_sudo(h2, "else")
    h2.ssh.run("printf 'Port 22\\nPort 2222\\n' >/etc/ssh/sshd_config.d/ports.conf && systemctl restart ssh")
    _, *key = h2.trust_line().split()
    known.write_text(lab_known.read_text() + " ".join([f"[{h2.address}]:2222", *key]) + "\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", known], check=True, capture_output=True)
    assert h2.address not in known.read_text()
    far = f"Host far\n  HostName {h2.address}\n  Port 2222\n"
    config.write_text(f"Include {included}\nHost jump\n  HostName {h1.address}\n{far}Host *\n  User root\n")
    included.write_text(f"Host *\n  IdentityFile {h2.image.key}\n  UserKnownHostsFile {known}\n")

    ours = f"-F {config}"
    describe(
        pair,
        h2,
        {
            "plain": {},
            "jumped": {"ssh_common_args": f"{ours} -J jump"},
            "hops": {"ssh_common_args": f"{ours} -J jump,{h2.address},jump:22"},
            "proxied": {"ssh_common_args": f"{ours} -o ProxyCommand='ssh {ours} -W %h:%p jump'"},
            "alias": {"ssh_common_args": ours, "host": "far", "user": "else"},
            "port": {"ssh_common_args": ours, "port": 2222, "user": "else"},
            "held": {"ssh_common_args": options(lab_known), "ssh_private_key_file": ""},
        },
    )
    said = run(pair, "held", "--", "true", code=6, env=agent).stderr
    assert "no key to try" in said
    subprocess.run(["ssh-add", "-q", h2.image.key], env=agent, check=True, capture_output=True)
    answers = json.loads(run(pair, "-o", "json", "--", ENTERED, env=agent).stdout)
    own = answers[0]["stdout"].split()[0]
    assert own not in (h1.address, h2.address)
    assert {answer["host"]: answer["stdout"].split() for answer in answers} == {
        "plain": [own, "22", "root", "h2"],
        "jumped": [h1.address, "22", "root", "h2"],
        "hops": [h1.address, "22", "root", "h2"],
        "proxied": [h1.address, "22", "root", "h2"],
        "alias": [own, "2222", "else", "h2"],
        "port": [own, "2222", "else", "h2"],
        "held": [own, "22", "root", "h2"],
    }


def test_a_host_that_is_not_entered_says_why_and_what_to_do(fleet: NewFleet, tmp_path: Path) -> None:
    pair = fleet(2, TRIO_ZK)
    h1, h2 = pair.lab.hosts
    faults.no_sudo(h2)
    faults.sudo_asks(h2)
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    describe(
        pair,
        h2,
        {
            "free": {},
            "plain": {"user": "plain"},
            "asked": {"user": "asked"},
            "written": {"user": "asked", "become_password": faults.PASSWORD},
            "wrong": {"ssh_private_key_file": str(other)},
            "unknown": {"ssh_common_args": options(tmp_path / "known")},
            "up": {"host": h1.address},
        },
    )

    every_reason_is_in_one_answer_and_the_others_are_served(pair, h2, other)
    sudos_password_is_used_and_never_in_a_list_of_processes(pair)
    the_line_that_is_told_of_a_host_key_is_the_way_out(pair, h2)
    a_host_that_does_not_answer_is_named_soon(pair, h2)


def every_reason_is_in_one_answer_and_the_others_are_served(pair: Fleet, h2: Host, other: Path) -> None:
    done = run(pair, "--become", "--", "id -un", code=6)
    assert sorted(line.split()[-1] for line in done.stdout.splitlines()) == ["root", "root", "root"]
    assert "error: 4 of 7 hosts cannot be reached" in done.stderr
    assert "plain: sudo wants a password for plain\n    try: add -K to be asked for it" in done.stderr
    assert "asked: sudo wants a password for asked\n" in done.stderr
    assert f"wrong: {h2.address}:22 refuses to log in root\n" in done.stderr
    assert f"ssh-copy-id -i {other} root@{h2.address}" in done.stderr
    assert f"unknown: the host key of {h2.address}:22 is not known\n" in done.stderr


def sudos_password_is_used_and_never_in_a_list_of_processes(pair: Fleet) -> None:
    wrong, right = ({"KCLUSTER_BECOME_PASSWORD": word} for word in ("nonsense", faults.PASSWORD))
    said = run(pair, "asked", "--become", "--", "true", code=6, env=wrong).stderr
    assert "asked: sudo refuses the password of asked" in said
    command = f"id -un; cat; ps -eo args | grep -c '[ =]{faults.PASSWORD}$' || true"
    assert run(pair, "asked", "--become", "--", command, env=right).stdout == "root\n0\n"


def the_line_that_is_told_of_a_host_key_is_the_way_out(pair: Fleet, h2: Host) -> None:
    """Unknown, then known, then changed."""
    follow(pair, run(pair, "unknown", "--", "true", code=6).stderr)
    assert run(pair, "unknown", "--", "uname -n").stdout == "h2\n"
    faults.new_host_key(h2)
    said = run(pair, "unknown", "--", "true", code=6).stderr
    assert f"unknown: the host key of {h2.address}:22 has changed" in said
    follow(pair, said)
    assert run(pair, "unknown", "--", "uname -n").stdout == "h2\n"


def a_host_that_does_not_answer_is_named_soon(pair: Fleet, h2: Host) -> None:
    """Frozen, then without a cable; the other host is served all the same."""
    pair.lab.trust()
    faults.freeze(h2)
    said = run(pair, "free", "--", "true", code=6).stderr
    assert f"free: {h2.address}:22 accepts connections but has no SSH handshake within 15 s" in said
    faults.thaw(h2)
    faults.cable_out(h2)
    began = time.monotonic()
    run(pair, "up", "--", "uname -n")
    usual = time.monotonic() - began  # a busy machine takes its time for Python alone
    done = run(pair, "free", "up", "--", "uname -n", code=6)
    assert time.monotonic() - began < 2 * usual + 30  # the system itself would try for two minutes
    assert done.stdout == "up   | h1\n"
    assert f"error: free: {h2.address}:22 cannot be reached" in done.stderr
