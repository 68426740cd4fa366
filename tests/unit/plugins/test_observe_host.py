"""The script that observes a host, run on this one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kcluster.clients import host_scripts

observe_host = host_scripts.load("observe_host")
files = host_scripts.load("files")


def question(folder: Path, **given: Any) -> dict[str, Any]:
    return {
        "install_dir": str(folder / "opt"),
        "preparation": {
            "user": "nobody",
            "group": "no-such-group",
            **{f"{what}_dir": str(folder / what) for what in ("install", "config", "log")},
        },
        "java_home": "",
        "path": "",
        "nodes": [],
        **given,
    }


def node(files: list[Path], directories: list[Path]) -> dict[str, Any]:
    return {
        "name": "broker-1",
        "unit": "kcluster-test-of-no-such-unit",
        "files": [str(path) for path in files],
        "directories": [str(path) for path in directories],
        "link": "/opt/kafka/current-kafka",
        "port": 9092,
        "log": "/no/such.log",
    }


def test_it_runs_alone_in_an_isolated_python(tmp_path: Path) -> None:
    text = host_scripts.program("observe_host", question(tmp_path))
    done = subprocess.run([sys.executable, "-IS", "-"], input=text, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["python"] == ".".join(map(str, sys.version_info[:3]))
    assert told["memory_bytes"] > 1 << 20
    assert ["group no-such-group", "", ""] in told["preparation"]["changes"]
    assert told["os"]


def test_files_and_directories_that_are_there_are_told_with_their_owners(tmp_path: Path) -> None:
    file, data = tmp_path / "server.properties", tmp_path / "data"
    file.write_text("a=1\r\n", newline="")
    file.chmod(0o640)
    data.mkdir()
    (data / "meta.properties").write_text("#\n#Wed Nov 18\nversion=0\nbroker.id=1\ncluster.id=x==\n")
    (data / "myid").write_text("3\n")
    found = observe_host.observe(question(tmp_path, nodes=[node([file, tmp_path / "no"], [data, tmp_path / "gone"])]))
    (seen,) = found["nodes"].values()
    assert list(seen["files"]) == [str(file)]
    assert seen["files"][str(file)]["text"] == "a=1\r\n"
    assert seen["files"][str(file)]["attributes"] == f"{files.owner(os.getuid())}:{files.group(os.getgid())} 0640"
    (directory,) = seen["directories"].values()
    assert directory["attributes"].startswith(f"{files.owner(os.getuid())}:")
    assert directory["meta"] == {"version": "0", "broker.id": "1", "cluster.id": "x=="}
    assert directory["myid"] == "3"
    assert not directory["empty"]
    assert 0 < directory["free_bytes"] <= directory["total_bytes"]
    assert os.path.ismount(directory["mount"])


def test_what_would_be_prepared_is_told_and_not_done(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir(mode=0o700)
    told = observe_host.observe(question(tmp_path))["preparation"]
    me = f"{files.owner(os.getuid())}:{files.group(os.getgid())}"
    changes = {what: (before, after) for what, before, after in told["changes"]}
    assert changes[f"directory {tmp_path}/install"] == ("", "root:root 0755")
    assert changes[f"directory {tmp_path}/config"] == (f"{me} 0700", "root:root 0755")
    assert not (tmp_path / "install").exists()
    assert told["refused"] == ""
    (tmp_path / "log").touch()
    assert "is not a directory" in observe_host.observe(question(tmp_path))["preparation"]["refused"]


def test_a_file_that_is_no_text_does_not_stop_the_look(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a=\xff\n")
    assert files.read(str(tmp_path / "f")) == "a=\ufffd\n"


def test_a_disk_with_nothing_but_lost_and_found_is_empty(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    found = observe_host.directory(str(tmp_path))
    assert found
    assert found["empty"]


def test_only_releases_that_are_complete_count(tmp_path: Path) -> None:
    install = tmp_path / "opt"
    for name in ("kafka_2.13-3.9.2", "kafka_2.13-3.9.1"):
        (install / name).mkdir(parents=True)
    (install / "kafka_2.13-3.9.2" / ".complete").touch()
    (install / "current").symlink_to(install / "kafka_2.13-3.9.2")
    found = observe_host.observe(question(tmp_path))
    assert (found["releases"], found["current"]) == (["kafka_2.13-3.9.2"], "kafka_2.13-3.9.2")


def test_a_unit_that_does_not_exist_is_missing_and_was_started_with_nothing(tmp_path: Path) -> None:
    (seen,) = observe_host.observe(question(tmp_path, nodes=[node([tmp_path / "f"], [])]))["nodes"].values()
    assert seen["unit"]["state"] == "missing"
    assert (seen["unit"]["pid"], seen["started_with"], seen["started_release"]) == (None, {}, "")


def test_what_a_process_was_started_with_is_read_from_the_copies_of_its_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "kafka"
    copies.mkdir()
    (copies / "server.properties").write_text("old=1\n")
    (copies / "release").write_text("kafka_2.13-3.9.1\n")
    monkeypatch.setattr(observe_host, "RUN", str(tmp_path))
    asked = {**node([Path("/etc/kafka/server.properties")], []), "unit": "kafka"}
    seen = observe_host.observe_node(asked, {"pid": 1, "listening": []})
    assert seen["started_with"] == {"/etc/kafka/server.properties": "old=1\n"}
    assert seen["started_release"] == "kafka_2.13-3.9.1"
    gone = observe_host.observe_node(asked, {"pid": None, "listening": []})
    assert (gone["started_with"], gone["recovery"]) == ({}, None), "copies of a process that is gone"
    assert seen["recovery"]["mark"], "it is not at its port yet"
    assert observe_host.observe_node(asked, {"pid": 1, "listening": ["[::]:9092"]})["recovery"] is None


def test_a_unit_is_read_from_what_systemd_says() -> None:
    told = {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled", "MainPID": str(os.getpid())}
    unit = observe_host.unit_state({**told, "NRestarts": "2"})
    assert (unit["state"], unit["enabled"], unit["pid"], unit["restarts"]) == ("active", True, os.getpid(), 2)
    assert unit["uptime_seconds"] >= 0
    assert unit["memory_bytes"] > 1 << 20


def test_where_the_process_of_a_unit_listens_is_told_and_nobody_elses() -> None:
    told = {"LoadState": "loaded", "ActiveState": "active"}
    with (
        socket.create_server(("127.0.0.1", 0)) as near,
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as everywhere,
        socket.create_server(("::ffff:127.0.0.1", 0), family=socket.AF_INET6, dualstack_ipv6=True) as java,
        socket.create_connection(near.getsockname()),
    ):
        addresses = [
            f"127.0.0.1:{near.getsockname()[1]}",
            f"[::]:{everywhere.getsockname()[1]}",
            f"127.0.0.1:{java.getsockname()[1]}",
        ]
        listening = observe_host.unit_state({**told, "MainPID": str(os.getpid())})["listening"]
        assert listening == sorted(listening)
        assert set(addresses) <= set(listening)
        other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        assert observe_host.unit_state({**told, "MainPID": str(other.pid)})["listening"] == []
        other.communicate()
    assert not set(addresses) & set(observe_host.unit_state({**told, "MainPID": str(os.getpid())})["listening"])
    assert observe_host.unit_state({**told, "MainPID": "0"})["listening"] == []
    assert observe_host.sockets.listening_of(other.pid) == [], "a process that is gone"


def test_a_process_with_a_strange_name_still_has_an_uptime() -> None:
    fields = " ".join(["S", *("0" for _ in range(18)), str(100 * os.sysconf("SC_CLK_TCK")), "0"])
    assert observe_host.uptime(f"7 (a ) b) {fields}", "160.5 1.0") == 60.5


def java(folder: Path, **where: str) -> Any:
    """The version of the Java that is found."""
    return observe_host.observe(question(folder, **where))["java"]


def test_java_is_read_from_the_file_beside_it_and_not_started(tmp_path: Path) -> None:
    program = tmp_path / "jvm" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "jvm" / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="17.0.19"\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(program)
    assert java(tmp_path, path=f"/nowhere:{tmp_path}/bin") == "17.0.19"
    assert java(tmp_path, java_home=str(tmp_path / "jvm")) == "17.0.19"
    assert java(tmp_path, java_home=str(tmp_path), path="/nowhere") == "17.0.19"
    assert java(tmp_path, path="/nowhere") == ""


def test_java_without_that_file_is_asked(tmp_path: Path) -> None:
    program = tmp_path / "jvm" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019' >&2\n")
    program.chmod(0o755)
    assert java(tmp_path, java_home=str(tmp_path / "jvm")) == "11.0.2"
