"""The scripts for hosts, run on this machine as they run there: fed to a bare python3."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcluster.clients import host_scripts, ports
from kcluster.facts.preflight import host_facts
from tests.children import child
from tests.lab.machine import wait_until

NOTHING: dict[str, Any] = {
    "directories": [],
    "journals": [],
    "units": [],
    "ports": [],
    "java_homes": [],
    "kernel": [],
    "addresses": False,
    "users": ["root"],
}


def run(name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    script = host_scripts.program(name, wanted)
    done = subprocess.run([sys.executable, "-IS", "-"], input=script, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return dict(json.loads(done.stdout))


def examined(**wanted: Any) -> host_facts.HostFacts:
    return host_facts.host(run("preflight_host", NOTHING | wanted))


def test_a_host_tells_what_it_is() -> None:
    told = examined(kernel=["fs/nr_open", "no/such"], addresses=True)
    assert told.python == ".".join(map(str, sys.version_info[:3]))
    assert told.memory > 1 << 26
    assert int(told.kernel["fs/nr_open"]) > 0
    assert told.kernel["no/such"] == ""
    assert "127.0.0.1" in told.addresses
    assert told.accounts == {"root": 0}
    assert told.begun <= told.ended


def test_a_unit_tells_its_description(tmp_path: Path) -> None:
    unit, missing = tmp_path / "kafka.service", str(tmp_path / "zookeeper.service")
    unit.write_text("[Unit]\nDescription=Kafka broker 1 of trio\nAfter=a\n")
    assert examined(units=[str(unit), missing]).units == {
        str(unit): "Description=Kafka broker 1 of trio",
        missing: "",
    }


def test_a_directory_tells_its_disk_and_whose_data_it_holds(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("#\nbroker.id=3\ncluster.id = spaced\ncluster.id=abc\n")
    (tmp_path / "myid").write_text("3\n")
    later = f"{tmp_path}/not/yet"
    told = examined(directories=[str(tmp_path), later]).directories
    found = told[str(tmp_path)]
    assert (found.meta["broker.id"], found.meta["cluster.id"], found.myid) == ("3", "abc", "3")
    assert (found.exists, found.owner, found.entries) == (True, os.getuid(), ("meta.properties", "myid"))
    assert 0 < found.free <= found.total
    assert (told[later].exists, told[later].nearest, told[later].entries) == (False, str(tmp_path), ())


def test_a_directory_tells_what_in_it_keeps_a_broker_from_starting(tmp_path: Path) -> None:
    names = ["a-0", "a-1.0f-delete", "a.b-2.x-future", "a-3.x-stray", "__cluster_metadata-0", "remote-log-index-cache"]
    for name in (*names, "lost+found", ".snapshot", "backup", "a-b"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes").write_text("a file is nothing to Kafka")
    path = str(tmp_path)
    empty = examined(directories=[path]).directories[path]
    assert empty.no_partitions == (".snapshot", "a-b", "backup")  # an empty lost+found is removed at each start
    (tmp_path / "lost+found" / "#12").write_text("")
    full = examined(directories=[path]).directories[path]
    assert full.no_partitions == (".snapshot", "a-b", "backup", "lost+found")


@pytest.mark.parametrize("data", [True, False])
def test_timing_the_disk_leaves_nothing_and_never_writes_beside_data(tmp_path: Path, data: bool) -> None:
    path = tmp_path / "log"
    path.mkdir()
    if data:
        (path / "version-2").mkdir()
    before = path.stat().st_mtime_ns
    found = examined(journals=[str(path)]).journals[str(path)]
    assert found.place == str(tmp_path if data else path)
    assert 0 < len(found.times) <= 30
    assert list(found.times) == sorted(found.times)
    assert path.stat().st_mtime_ns == before or not data
    assert sorted(os.listdir(tmp_path)) == ["log"]


def test_a_port_in_use_tells_who_holds_it() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        found = examined(ports=[port, 1]).ports
    assert set(found) == {port}
    assert found[port].pid == os.getpid()
    assert found[port].program


def test_doors_open_only_for_those_who_are_expected() -> None:
    port = free_port()
    wanted = {
        "open": [{"port": port, "host": "127.0.0.1", "unit": "kafka.service", "expected": 1}],
        "knock": [["127.0.0.1", port], ["name.invalid", 9092]],
        "once": [],
        "own_names": ["127.0.0.1", "name.invalid"],
        "patience": 10.0,
    }
    told = host_facts.network(run("preflight_network", wanted))
    assert told.knocks["127.0.0.1", port] == ""
    assert told.knocks["name.invalid", 9092].startswith("does not resolve")
    assert told.own_names == {"127.0.0.1": ("127.0.0.1",), "name.invalid": ()}
    assert told.ended - told.begun < 9


WAITING: dict[str, Any] = {"knock": [], "once": [], "own_names": [], "patience": 30.0}


def test_a_listener_of_a_check_is_told_apart_from_other_programs_and_waited_for() -> None:
    port = free_port()
    door = {"port": port, "host": "127.0.0.1", "unit": "kafka.service", "expected": 9}
    first = host_scripts.program("preflight_network", WAITING | {"open": [door]})
    command = [sys.executable, "-IS", "-c", first]
    with child(command, stdout=subprocess.DEVNULL) as other:
        wait_until(lambda: ports.holder(port) is not None, 10, "the first check listens")
        assert examined(ports=[port]).ports == {}
        threading.Timer(0.3, other.kill).start()
        told = network_of(port, patience=1.0)
    assert (told.unopened, list(told.knocks.values())) == ({}, [""])


def test_a_listener_ends_with_the_connection_that_asked_for_it(tmp_path: Path) -> None:
    """A stand-in for sshd, and below it the shell that sudo would be."""
    port = free_port()
    door = {"port": port, "host": "127.0.0.1", "unit": "kafka.service", "expected": 1}
    script = tmp_path / "script.py"
    script.write_text(host_scripts.program("preflight_network", WAITING | {"open": [door]}))
    sshd = tmp_path / "sshd-session"
    sshd.symlink_to("/bin/sh")
    command = [sshd, "-c", f"sh -c '{sys.executable} -IS {script}; true'; true"]
    with child(command, stdout=subprocess.DEVNULL) as session:
        wait_until(lambda: ports.holder(port) is not None, 10, "it listens")
        session.kill()
        session.wait()
        wait_until(lambda: ports.holder(port) is None, 5, "nothing listens any more")


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which a stand-in for systemctl finds the state of every unit."""
    program, state = tmp_path / "systemctl", tmp_path / "state"
    program.write_text(f"#!/bin/sh\ncat {state}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return state


@pytest.mark.parametrize("state", ["active", "activating", "reloading", "deactivating"])
def test_the_port_of_a_unit_that_runs_or_starts_is_left_to_it(systemctl: Path, state: str) -> None:
    systemctl.write_text(f"{state}\n")
    told = network_of(free_port())
    assert (list(told.knocks.values()), len(told.starting)) == (["refused"], 1)
    systemctl.write_text("failed\n")
    told = network_of(free_port())
    assert (list(told.knocks.values()), told.starting) == ([""], frozenset())


def test_a_door_is_shut_when_its_unit_is_started_meanwhile(systemctl: Path) -> None:
    systemctl.write_text("inactive\n")
    port = free_port()

    def start() -> None:
        while not ports.holder(port):
            time.sleep(0.05)
        systemctl.write_text("activating\n")

    started = threading.Thread(target=start, daemon=True)
    started.start()
    begun = time.monotonic()
    told = network_of(port, expected=2, patience=20.0)
    started.join()
    assert told.starting == {port}
    assert time.monotonic() - begun < 15


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def network_of(port: int, expected: int = 1, patience: float = 0.5) -> host_facts.NetworkFacts:
    """What a host says that opens one door and knocks at it itself."""
    door = {"port": port, "host": "127.0.0.1", "unit": "kafka.service", "expected": expected}
    asked = {"open": [door], "knock": [["127.0.0.1", port]], "once": [], "own_names": [], "patience": patience}
    return host_facts.network(run("preflight_network", asked))


def test_a_door_without_an_address_is_open_on_ipv4_and_ipv6() -> None:
    port = free_port()
    every = ["127.0.0.1", *(["::1"] if socket.has_dualstack_ipv6() else [])]
    door = {"port": port, "host": "", "unit": "kafka.service", "expected": len(every)}
    knocks = [[address, port] for address in every]
    asked = {"open": [door], "knock": knocks, "once": [], "own_names": [], "patience": 1.0}
    assert set(host_facts.network(run("preflight_network", asked)).knocks.values()) == {""}


def test_one_knock_tells_where_nobody_is_about_to_open() -> None:
    door = ["127.0.0.1", free_port()]
    told = host_facts.network(
        run("preflight_network", {"open": [], "knock": [door], "once": [door], "own_names": [], "patience": 30.0})
    )
    assert told.knocks == {tuple(door): "refused"}
    assert told.ended - told.begun < 10


def test_a_door_that_cannot_be_opened_says_why() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        wanted = {
            "open": [{"port": port, "host": "127.0.0.1", "unit": "kafka.service", "expected": 1}],
            "knock": [],
            "once": [],
            "own_names": [],
            "patience": 0,
        }
        assert host_facts.network(run("preflight_network", wanted)).unopened == {port: "Address already in use"}


def test_a_port_that_was_closed_while_looking_is_held_by_nobody(
    plugin: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that which only a leading ZooKeeper server opens: its socket was seen, and its owner no more."""
    preflight = plugin("module_utils.preflight_host")
    seen = iter([{"socket:[1]": "0.0.0.0:2888"}, {}])
    monkeypatch.setattr(preflight.sockets, "listening", lambda: next(seen))
    assert preflight.listening([2888]) == {}
