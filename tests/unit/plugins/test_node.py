"""The module kcluster.kafka.node on folders of this machine: files, storage, units, and what it says of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kcluster.clients.ansible.run_environment import collections

Plugin = Callable[[str], ModuleType]
NewNode = Callable[..., dict[str, Any]]
Meta = Callable[..., None]
CLUSTER_ID = "PbWmCmMSSbSvDeFTl9mVrA"
PLUGINS = "ansible_collections.kcluster.kafka.plugins"


def test_a_file_is_written_whole_with_its_mode_and_differs_no_more(
    tmp_path: Path, plugin: Plugin, own: dict[str, str]
) -> None:
    files = plugin("module_utils.files")
    wanted = {**own, "path": str(tmp_path / "etc/kafka/a.properties"), "text": "k=ü\r\n", "mode": "0640"}
    assert files.drift(wanted) == {
        "path": wanted["path"], "attributes": "", "text": None, "wanted": f"{own['owner']}:{own['group']} 0640"
    }  # fmt: skip
    files.write(wanted)
    path = Path(wanted["path"])
    assert files.drift(wanted) is None
    assert (path.read_bytes(), oct(path.stat().st_mode)) == ("k=ü\r\n".encode(), "0o100640")
    path.chmod(0o644)
    assert files.drift(wanted)["attributes"] == f"{own['owner']}:{own['group']} 0644"
    assert os.listdir(path.parent) == ["a.properties"]


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_rest(
    tmp_path: Path, plugin: Plugin, own: dict[str, str]
) -> None:
    files = plugin("module_utils.files")
    path = tmp_path / "a.properties"
    path.write_text("old")
    wanted = {"owner": "nobody-at-all", "group": own["group"], "path": str(path), "text": "new", "mode": "0640"}
    with pytest.raises(files.HostRefusedError, match="no account nobody-at-all:"):
        files.write(wanted)
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["a.properties"])


def test_a_directory_gets_its_mode_and_what_lies_in_it_keeps_its_own(
    tmp_path: Path, plugin: Plugin, own: dict[str, str]
) -> None:
    files = plugin("module_utils.files")
    (tmp_path / "data").mkdir(mode=0o777)
    (tmp_path / "data" / "log").write_text("")
    (tmp_path / "data" / "log").chmod(0o666)
    wanted = {**own, "path": str(tmp_path / "data"), "mode": "0750"}
    files.make_directory(wanted)
    assert files.drift(wanted) is None
    assert oct((tmp_path / "data" / "log").stat().st_mode) == "0o100666"


def test_what_a_service_links_to_is_neither_read_nor_changed(
    tmp_path: Path, plugin: Plugin, own: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files, descriptors = plugin("module_utils.files"), plugin("module_utils.descriptors")
    (tmp_path / "roots").mkdir(mode=0o700)
    (tmp_path / "roots/myid").write_text("a secret")
    (tmp_path / "roots/myid").chmod(0o600)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/myid").symlink_to(tmp_path / "roots/myid")
    (tmp_path / "linked").symlink_to("roots")
    file = {**own, "path": str(tmp_path / "data/myid"), "text": "1\n", "mode": "0644"}
    behind = {**file, "path": str(tmp_path / "linked/myid")}
    directory = {**own, "path": str(tmp_path / "linked"), "mode": "0755"}
    made = {**directory, "path": str(tmp_path / "linked/more/yet")}

    assert files.state(file["path"])["text"] == files.read(behind["path"]) == "a secret"
    assert (files.drift({**file, "text": "a secret", "mode": "0600"}), files.drift(made)["attributes"]) == (None, "")

    monkeypatch.setattr(descriptors, "TRUSTED", set())
    refused = pytest.raises(plugin("module_utils.errors").HostRefusedError, match=r"is a symbolic link to .*\ntry: ")
    with refused as caught:
        files.drift(file)
    assert str(caught.value).startswith(f"{tmp_path}/data/myid is a symbolic link to {tmp_path}/roots/myid and belongs")
    for step, wanted in ((files.drift, behind), (files.write, behind), (files.make_directory, directory)):
        with refused:
            step(wanted)
    with refused:
        files.make_directory(made)
    assert files.read(file["path"]) is None
    facts = (tmp_path / "roots/myid").stat()
    assert ((tmp_path / "roots/myid").read_text(), oct(facts.st_mode)) == ("a secret", "0o100600")
    assert (oct((tmp_path / "roots").stat().st_mode), os.listdir(tmp_path / "roots")) == ("0o40700", ["myid"])
    files.write(file)  # it takes the place of the link
    assert ((tmp_path / "data/myid").read_text(), (tmp_path / "data/myid").is_symlink()) == ("1\n", False)
    assert (tmp_path / "roots/myid").read_text() == "a secret"


def test_a_circle_of_links_is_an_error_and_a_pipe_is_not_waited_for(tmp_path: Path, plugin: Plugin) -> None:
    files = plugin("module_utils.files")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        files.state(str(tmp_path / "a"))
    os.mkfifo(tmp_path / "pipe")
    assert files.read(str(tmp_path / "pipe")) == ""
    assert files.state(str(tmp_path / "pipe"))["text"] is None


class Systemctl:
    """Answers as systemctl does, and remembers what it was told to do."""

    def __init__(self, **facts: str) -> None:
        self.facts = {"Id": "kafka.service", "ActiveState": "inactive", "UnitFileState": "disabled", **facts}
        self.told: list[str] = []

    def __call__(self, command: list[str], check_rc: bool = False) -> tuple[int, str, str]:
        if command[1] != "show":
            self.told.append(" ".join(command[1:]))
        return 0, "".join(f"{key}={value}\n" for key, value in self.facts.items()), ""


BringUp = Callable[..., tuple[Any, dict[str, Any]]]


@pytest.fixture
def bring_up(plugin: Plugin, disks: ModuleType) -> BringUp:
    """Let the module bring up one node; gives its host and its answer."""
    module, units = plugin("modules.node"), plugin("module_utils.systemd")

    def do(wanted: dict[str, Any], systemctl: Systemctl, *, check: bool = False, start: bool = True) -> Any:
        known = units.Units(systemctl, [wanted["unit"]])
        host = module.NodeHost(SimpleNamespace(check_mode=check), [wanted], known)
        return host, host.bring_up(start)

    return do


def test_check_mode_names_everything_and_does_nothing(tmp_path: Path, node: NewNode, bring_up: BringUp) -> None:
    systemctl = Systemctl()
    host, found = bring_up(node(), systemctl, check=True)
    assert host.changes == [
        f"make {tmp_path}/data", f"make {tmp_path}/etc/server.properties", "enable kafka", "start kafka"
    ]  # fmt: skip
    assert (found["started"], found["stopped"]) == (["broker-1"], ["broker"])
    assert systemctl.told == []
    assert not (tmp_path / "data").exists()


def test_a_first_run_does_everything_and_a_second_one_nothing(node: NewNode, bring_up: BringUp) -> None:
    first = Systemctl()
    bring_up(node(), first)
    assert first.told == ["enable kafka.service", "start kafka.service"]
    second = Systemctl(ActiveState="active", UnitFileState="enabled")
    host, found = bring_up(node(), second)
    assert (host.changes, second.told, found["started"]) == ([], [], [])


def test_a_unit_that_systemd_gave_up_gets_a_new_chance_and_prepared_starts_nothing(
    node: NewNode, bring_up: BringUp
) -> None:
    systemctl = Systemctl(ActiveState="failed", UnitFileState="enabled")
    bring_up(node(), systemctl, start=False)
    assert systemctl.told == []
    bring_up(node(), systemctl)
    assert systemctl.told == ["reset-failed kafka.service", "start kafka.service"]


def test_systemd_reads_units_again_only_when_one_changed(
    tmp_path: Path, own: dict[str, str], node: NewNode, bring_up: BringUp
) -> None:
    unit = {**own, "path": str(tmp_path / "kafka.service"), "text": "[Unit]\n", "mode": "0644", "kept": True}
    systemctl = Systemctl(ActiveState="active", UnitFileState="enabled")
    bring_up(node(files=[unit]), systemctl)
    assert systemctl.told == ["daemon-reload"]
    bring_up(node(files=[unit]), systemctl)
    assert systemctl.told == ["daemon-reload"]
    stale = Systemctl(ActiveState="active", UnitFileState="enabled", NeedDaemonReload="yes")
    bring_up(node(files=[unit]), stale)
    assert stale.told == ["daemon-reload"]


def test_what_a_running_process_was_started_with_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin: Plugin, node: NewNode, bring_up: BringUp
) -> None:
    monkeypatch.setattr(plugin("modules.node"), "RUN", str(tmp_path / "run"))
    (tmp_path / "run/kafka").mkdir(parents=True)
    (tmp_path / "run/kafka/release").write_text("kafka_2.13-3.9.1\n")
    (tmp_path / "run/kafka/server.properties").write_text("a=0\n")
    _, found = bring_up(node(), Systemctl(ActiveState="active"))
    path = str(tmp_path / "etc/server.properties")
    assert found["kept"] == {"broker-1": {"release": "kafka_2.13-3.9.1", "files": {path: "a=0\n"}}}


def test_a_refusal_comes_before_anything_is_touched(
    tmp_path: Path, plugin: Plugin, node: NewNode, meta: Meta, bring_up: BringUp
) -> None:
    meta(broker_id=2)
    systemctl = Systemctl()
    with pytest.raises(plugin("module_utils.errors").HostRefusedError, match="belongs to the node 2"):
        bring_up(node(), systemctl)
    (tmp_path / "kafka.service").write_text("[Unit]\nDescription=Kafka broker 2 of staging\n")
    both = "belongs to the cluster staging, .*; .* belongs to the node 2"
    with pytest.raises(plugin("module_utils.errors").HostRefusedError, match=both):
        bring_up(node(), systemctl)
    assert (systemctl.told, (tmp_path / "etc").exists()) == ([], False)


@pytest.fixture
def kraft(tmp_path: Path, node: NewNode) -> Callable[[str], dict[str, Any]]:
    """A KRaft node whose release has a storage tool of one line."""

    def make(tool: str) -> dict[str, Any]:
        program = tmp_path / "release/bin/kafka-storage.sh"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{tool}\n")
        program.chmod(0o755)
        return node(
            format=True,
            cluster_id=CLUSTER_ID,
            release_dir=str(tmp_path / "release"),
            config_file="/etc/kafka/server.properties",
            log_dir=str(tmp_path),
            environment={"PATH": os.environ["PATH"]},
        )

    return make


def test_storage_is_formatted_once_with_the_clusters_id(
    tmp_path: Path, bring_up: BringUp, kraft: Callable[[str], dict[str, Any]]
) -> None:
    data = tmp_path / "data"
    wanted = kraft(f'echo "$@" >>{tmp_path}/said; echo node.id=1 >{data}/meta.properties')
    host, _ = bring_up(wanted, Systemctl(), start=False)
    assert "format the storage of broker-1" in host.changes
    bring_up(wanted, Systemctl(), start=False)
    said = (tmp_path / "said").read_text()
    assert said == f"format -t={CLUSTER_ID} -c=/etc/kafka/server.properties --ignore-formatted\n"


def test_a_format_that_fails_says_why_and_starts_nothing(
    plugin: Plugin, bring_up: BringUp, kraft: Callable[[str], dict[str, Any]]
) -> None:
    systemctl = Systemctl()
    with pytest.raises(
        plugin("module_utils.errors").HostRefusedError, match="broker-1 cannot be formatted: no such voter"
    ):
        bring_up(kraft("echo no such voter; exit 1"), systemctl)
    assert systemctl.told == []


def test_the_storage_of_a_running_node_is_left_alone(
    bring_up: BringUp, meta: Meta, kraft: Callable[[str], dict[str, Any]]
) -> None:
    meta(node_id=1)
    bring_up(kraft("exit 1"), Systemctl(ActiveState="active", UnitFileState="enabled"))


def test_a_directory_that_a_running_node_gets_is_formatted_before_its_restart(
    tmp_path: Path, bring_up: BringUp, meta: Meta, kraft: Callable[[str], dict[str, Any]]
) -> None:
    meta(node_id=1)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    wanted = {**kraft(f"echo node.id=1 >{fresh}/meta.properties"), "data_dirs": [str(tmp_path / "data"), str(fresh)]}
    systemctl = Systemctl(ActiveState="active", UnitFileState="enabled")
    host, _ = bring_up(wanted, systemctl)
    assert "format the storage of broker-1" in host.changes
    assert (fresh / "meta.properties").exists()
    assert systemctl.told == []
    again, _ = bring_up(wanted, systemctl)
    assert again.changes == []


def test_modules_import_nothing_that_hosts_do_not_have(project: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import {0}.modules.node; print('kcluster' in sys.modules)"
    run = [sys.executable, "-c", code.format(PLUGINS), str(collections())]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("text", ["", "\0\0 geheim", "ü" * 9999])
def test_a_sealed_text_is_read_with_its_key_only(plugin: Plugin, text: str) -> None:
    sealing = plugin("module_utils.sealing")
    key, other = sealing.new_key(), sealing.new_key()
    assert sealing.unsealed(sealing.sealed(text, key), key) == text
    assert not text or sealing.sealed(text, key) != sealing.sealed(text, other)
