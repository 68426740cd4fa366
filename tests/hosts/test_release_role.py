"""The roles host and release on real hosts: once, twice, and with everything that can go wrong on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kcluster.model.release import Release
from kcluster.releases import cache
from kcluster.releases.fetch import fetch
from tests.children import child
from tests.hosts.fleet import TRIO_ZK, Fleet, fleet_on
from tests.lab import Lab, faults

NAME = Release().directory
LEFT = "ls -A /opt/kafka"

BOOK = """
- hosts: all
  gather_facts: false
  become: true
  roles: [kcluster.kafka.host, kcluster.kafka.release]
"""

PLAY = """
import json, sys
from pathlib import Path
from kcluster.clients.ansible import run_playbook
from kcluster.errors import KclusterError

book, inventory, host, check, ask = sys.argv[1:]
password = Path(ask).read_text() if ask else ""
seen = set()

def look(event):
    for file in [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]:
        try:
            seen.update([file.name] if password.encode() in file.read_bytes() else [])
        except OSError:
            pass

try:
    done = run_playbook(book, Path(inventory), on_event=look if ask else lambda event: None,
                        limit=[host] if host else [], check=bool(check), become_password=password)
    told = {"changed": sorted({event.host for event in done.changed}), "moved": done.facts("moved_bytes"),
            "notes": done.facts("notes"), "diffs": [event.diff for event in done.changed]}
except KclusterError as problem:
    told = {"error": type(problem).__name__, "said": "\\n".join([problem.message, problem.details, problem.resolution])}
print(json.dumps({**told, "seen": sorted(seen)}))
"""


@pytest.fixture
def ours(trio: Lab, tmp_path: Path) -> Iterator[Fleet]:
    """Three hosts and a cache of our own, which shares nothing but the fetched release."""
    fetch(Release(), print)
    own = tmp_path / "cache"
    own.mkdir()
    (own / "releases").symlink_to(cache.root())
    (tmp_path / "book.yml").write_text(BOOK)
    yield replace(fleet_on(trio, TRIO_ZK, tmp_path), env={"KCLUSTER_CACHE": str(own)})
    for host in trio.hosts:
        faults.wide_link(host)


def start(
    fleet: Fleet, host: str = "", *, check: bool = False, ask: Path | None = None
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run of both roles, as a process of its own."""
    arguments = [str(fleet.inventory.parent / "book.yml"), str(fleet.inventory), host, "check" if check else ""]
    return child(
        ["ip", "netns", "exec", fleet.lab.network.namespace, sys.executable, "-c", PLAY, *arguments, str(ask or "")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **fleet.env},
    )


def result(process: subprocess.Popen[str]) -> Any:
    """What a run gives."""
    return json.loads(process.communicate(timeout=240)[0].splitlines()[-1])


def play(fleet: Fleet, host: str = "", *, check: bool = False, ask: Path | None = None) -> Any:
    """What a run of both roles gives."""
    with start(fleet, host, check=check, ask=ask) as process:
        return result(process)


def tarball(fleet: Fleet) -> Path:
    """The file that is sent."""
    return Path(fleet.env["KCLUSTER_CACHE"]) / "tarballs" / f"{NAME}.tar"


def wait_for(lab: Lab, host: str, line: str) -> None:
    """Wait until a shell line is true on a host."""
    deadline = time.monotonic() + 240
    while "yes" not in lab.ssh(host, f"{line} && echo yes || true"):
        assert time.monotonic() < deadline, f"never true on {host}: {line}"
        time.sleep(0.1)


def test_both_roles_change_bare_hosts_once_and_say_so_before(trio: Lab, ours: Fleet) -> None:
    would = play(ours, check=True)
    assert would["changed"] == ["h1", "h2", "h3"]
    assert set(would["moved"].values()) == {0}
    assert not tarball(ours).exists()
    assert "no\n" in trio.ssh("h1", "test -e /opt/kafka || echo no")

    first = play(ours)
    assert first["changed"] == ["h1", "h2", "h3"]
    assert set(first["moved"].values()) == {tarball(ours).stat().st_size}
    assert "user kafka in group kafka" in "".join(first["diffs"])
    assert all("cannot be changed here" in notes[0] for notes in first["notes"].values())
    for host in ("h1", "h2", "h3"):
        assert "kafka-server-start.sh" in trio.ssh(host, "ls /opt/kafka/current/bin")
        assert trio.ssh(host, "readlink /opt/kafka/current").strip() == NAME
        assert trio.ssh(host, "stat -c %U:%a /var/log/kafka").strip() == "kafka:750"
        assert trio.ssh(host, "getent passwd kafka").strip().endswith(":/nonexistent:/usr/sbin/nologin")

    again = play(ours)
    assert (again["changed"], set(again["moved"].values())) == ([], {0})
    assert play(ours, check=True)["changed"] == []


def test_a_damaged_release_is_refused_on_the_host_and_made_again(trio: Lab, ours: Fleet) -> None:
    play(ours, "h1")
    trio.ssh("h1", "rm -rf /opt/kafka/*")
    play(ours, "h1")
    trio.ssh("h1", "rm -rf /opt/kafka/*")
    with tarball(ours).open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"wrong")
    refused = play(ours, "h1")
    assert refused["error"] == "ApplyError"
    assert "h1: " in refused["said"]
    assert f"{NAME} arrived with a wrong SHA-512 and was refused" in refused["said"]
    assert "is damaged and was removed" in refused["said"]
    assert trio.ssh("h1", LEFT) == ""
    assert play(ours, "h1")["changed"] == ["h1"]


def test_a_disk_that_is_full_before_or_on_the_way_leaves_nothing_behind(trio: Lab, ours: Fleet) -> None:
    host = trio.host("h2")
    faults.small_disk(host, "/opt/kafka", 100)
    small = play(ours, "h2")
    assert "MB free" in small["said"]
    assert "nothing was sent" in small["said"]
    faults.lose_disk(host, "/opt/kafka")

    faults.small_disk(host, "/opt/kafka", 260)
    trio.ssh("h2", "rmdir /opt/kafka/lost+found 2>/dev/null || true")
    faults.thin_link(host, "30mbit")
    with start(ours, "h2") as sending:
        wait_for(trio, "h2", f"test -e /opt/kafka/.{NAME}.partial/libs")
        faults.fill_disk(host, "/opt/kafka")
        assert f"no space left in /opt/kafka for {NAME}; nothing was installed" in result(sending)["said"]
    assert NAME not in trio.ssh("h2", LEFT)
    faults.lose_disk(host, "/opt/kafka")


def test_a_push_that_breaks_off_is_repaired_by_the_next_run(trio: Lab, ours: Fleet) -> None:
    host = trio.host("h3")
    trio.ssh("h3", "rm -rf /opt/kafka/*")
    faults.thin_link(host, "30mbit")

    with start(ours, "h3") as dropped:
        wait_for(trio, "h3", f"test -e /opt/kafka/.{NAME}.partial/libs")
        faults.drop_ssh(host)
        assert result(dropped)["error"] in ("UnreachableError", "ApplyError")

    with start(ours, "h3") as killed:
        wait_for(trio, "h3", f"test -e /opt/kafka/.{NAME}.partial/libs")
        killed.kill()

    faults.wide_link(host)
    assert play(ours, "h3")["changed"] == ["h3"]
    assert sorted(trio.ssh("h3", LEFT).split()) == ["current", NAME]
    assert play(ours, "h3")["changed"] == []


def test_sudos_password_and_the_release_go_the_same_way_and_nobody_sees_the_password(trio: Lab, ours: Fleet) -> None:
    host = trio.host("h1")
    faults.sudo_asks(host)
    password = ours.inventory.parent / "password"
    password.write_text(uuid.uuid4().hex)
    trio.ssh("h1", "rm -rf /opt/kafka/* && chpasswd", input=f"asked:{password.read_text()}\n")
    hosts = yaml.safe_load((ours.inventory / "hosts.yml").read_text())
    hosts["all"]["hosts"]["h1"]["ansible_user"] = "asked"
    (ours.inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    refused = play(ours, "h1")
    assert refused["error"] == "UnreachableError"
    assert "password" in refused["said"]
    done = play(ours, "h1", ask=password)
    assert (done["changed"], done["seen"]) == (["h1"], [])
    assert trio.ssh("h1", "readlink /opt/kafka/current").strip() == NAME


def test_java_that_is_missing_is_one_sentence_and_the_host_is_left_as_it_was(trio: Lab, ours: Fleet) -> None:
    trio.ssh("h2", "mkdir /root/away && mv /usr/bin/java /root/away/ && rm -rf /var/log/kafka")
    refused = play(ours, "h2")
    assert refused["error"] == "ApplyError"
    assert "there is no Java: Kafka 3.9.2 needs Java 11 or newer" in refused["said"]
    assert "kafka_install_java: true" in refused["said"]
    assert "no\n" in trio.ssh("h2", "test -e /var/log/kafka || echo no")
    trio.ssh("h2", "mv /root/away/java /usr/bin/java")
