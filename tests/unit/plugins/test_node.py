"""The module kcluster.kafka.node on folders of this machine: storage, units, and what it says of them."""

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
        f"make {tmp_path}/data",
        f"let {tmp_path}/opt/current-kafka be kafka_2.13-3.9.2",
        f"make {tmp_path}/etc/server.properties",
        "enable kafka",
        "start kafka",
    ]
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


def test_a_unit_starts_the_wanted_release_and_one_that_runs_keeps_its_own_until_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin: Plugin, node: NewNode, bring_up: BringUp
) -> None:
    monkeypatch.setattr(plugin("modules.node"), "RUN", str(tmp_path / "run"))
    for release in ("kafka_2.13-3.9.1", "kafka_2.13-3.9.2"):
        (tmp_path / "opt" / release).mkdir(parents=True)
        (tmp_path / "opt" / release / ".complete").write_text('{"sha512": "a"}')
    link = tmp_path / "opt/current-kafka"
    bring_up(node(), Systemctl())
    assert link.readlink() == Path("kafka_2.13-3.9.2")

    (tmp_path / "run/kafka").mkdir(parents=True)
    (tmp_path / "run/kafka/release").write_text("kafka_2.13-3.9.1\n")
    host, _ = bring_up(node(), Systemctl(ActiveState="active", UnitFileState="enabled"))
    assert (host.changes, link.readlink()) == ([f"let {link} be kafka_2.13-3.9.1"], Path("kafka_2.13-3.9.1"))

    (tmp_path / "opt/kafka_2.13-3.9.1/.complete").unlink()  # somebody removed it by hand
    bring_up(node(), Systemctl(ActiveState="active", UnitFileState="enabled"))
    assert link.readlink() == Path("kafka_2.13-3.9.2")


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
