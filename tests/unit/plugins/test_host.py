"""The preparation of a host, on folders of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcluster.facts.preflight import host_facts, system


@pytest.fixture
def host(plugin: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What runs on the host, with a kernel, swap and settings of its own."""
    found = plugin("module_utils.host_preparation")
    (tmp_path / "sys/vm").mkdir(parents=True)
    monkeypatch.setattr(found, "KERNEL", str(tmp_path / "sys"))
    monkeypatch.setattr(found, "SWAPS", str(tmp_path / "swaps"))
    monkeypatch.setattr(found, "SYSCTL_FILE", str(tmp_path / "60-kcluster-kafka.conf"))
    values(tmp_path, swappiness=60, max_map_count=65530)
    return found


@pytest.fixture
def wanted(tmp_path: Path, own: dict[str, str], monkeypatch: pytest.MonkeyPatch, host: ModuleType) -> dict[str, Any]:
    """What the inventory wants, for accounts that are there."""
    monkeypatch.setattr(host, "directory", _owned(host.directory, own))
    return {
        "user": own["owner"],
        "group": own["group"],
        "install_dir": str(tmp_path / "opt/kafka"),
        "config_dir": str(tmp_path / "etc/kafka"),
        "log_dir": str(tmp_path / "log/kafka"),
        "release": "Kafka 4.2.0",
        "oldest_java": 17,
        "java_home": java(tmp_path / "jdk", "17.0.15"),
        "path": "",
        "install_java": False,
    }


def _owned(directory: Callable[..., None], own: dict[str, str]) -> Callable[..., None]:
    return lambda work, path, user, group, mode: directory(work, path, own["owner"], own["group"], mode)


def values(folder: Path, **settings: int) -> None:
    for name, value in settings.items():
        (folder / "sys/vm" / name).write_text(f"{value}\n")


def java(home: Path, version: str) -> str:
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025' >&2\n")
    (home / "bin/java").chmod(0o755)
    return str(home)


def test_a_host_is_prepared_once_and_check_mode_says_the_same(
    host: ModuleType, wanted: dict[str, Any], tmp_path: Path
) -> None:
    would = host.ensure(wanted, True)
    assert not (tmp_path / "opt").exists()
    assert (tmp_path / "sys/vm/swappiness").read_text() == "60\n"
    done = host.ensure(wanted, False)
    assert done["changed"] is True
    assert done["diff"] == would["diff"]
    assert (tmp_path / "log/kafka").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "sys/vm/max_map_count").read_text() == "262144\n"
    assert (tmp_path / "60-kcluster-kafka.conf").read_text().splitlines()[1:] == [
        "vm.swappiness = 1",
        "vm.max_map_count = 262144",
    ]
    assert (done["notes"], done["java"]) == ([], "17.0.15")
    assert done["changes"][-2:] == ["change kernel vm.max_map_count", f"add {tmp_path}/60-kcluster-kafka.conf"]
    assert host.ensure(wanted, False)["changed"] is False


def test_a_better_value_of_the_host_stays_and_is_not_written_down(
    host: ModuleType, wanted: dict[str, Any], tmp_path: Path
) -> None:
    values(tmp_path, swappiness=0, max_map_count=1048576)
    host.ensure(wanted, False)
    assert (tmp_path / "sys/vm/max_map_count").read_text() == "1048576\n"
    assert not (tmp_path / "60-kcluster-kafka.conf").exists()


def test_what_the_kernel_lost_is_set_again_and_what_it_refuses_is_said(
    host: ModuleType, wanted: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.ensure(wanted, False)
    values(tmp_path, swappiness=60)
    assert host.ensure(wanted, True)["changed"] is True
    monkeypatch.setattr(host.os, "access", _refusing(tmp_path / "sys", os.access))
    refused = host.ensure(wanted, False)
    assert refused["changed"] is False
    assert refused["notes"] == [
        "vm.swappiness stays 60 and should be 1: this host's kernel settings cannot be changed here"
    ]
    assert refused["msg"] == refused["notes"][0]


def _refusing(folder: Path, access: Callable[..., bool]) -> Callable[..., bool]:
    return lambda path, mode: not (mode == os.W_OK and Path(path).is_relative_to(folder)) and access(path, mode)


def test_swap_is_advised_against_and_left_on(host: ModuleType, wanted: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "swaps").write_text("Filename\tType\n")
    assert host.ensure(wanted, False)["notes"] == []
    (tmp_path / "swaps").write_text("Filename\tType\n/swapfile\tfile\n")
    assert "swap is on" in host.ensure(wanted, False)["notes"][0]


def test_a_host_without_java_or_with_an_old_one_is_left_as_it_was(
    host: ModuleType, wanted: dict[str, Any], tmp_path: Path
) -> None:
    nothing = {**wanted, "java_home": "", "path": str(tmp_path / "empty")}
    with pytest.raises(
        host.HostRefusedError, match=r"there is no Java: Kafka 4.2.0 needs Java 17 or newer\ntry: install "
    ):
        host.ensure(nothing, False)
    old = {**wanted, "java_home": "", "path": java(tmp_path / "old", "1.8.0_392") + "/bin"}
    with pytest.raises(host.HostRefusedError, match=r"Java 1.8.0_392 is too old: (?s:.*)kafka_install_java: true"):
        host.ensure(old, False)
    assert not (tmp_path / "opt").exists()


def test_java_that_will_be_installed_is_named_but_not_behind_a_java_home(
    host: ModuleType, wanted: dict[str, Any], tmp_path: Path
) -> None:
    missing = {**wanted, "java_home": "", "path": str(tmp_path / "empty"), "install_java": True}
    told = host.ensure(missing, True)
    assert told["java_package"] in told["msg"]
    assert f"package {told['java_package']}\n" in told["diff"][0]["after"]
    with pytest.raises(host.HostRefusedError, match=r"there is no Java in /nowhere .*\ntry: correct JAVA_HOME"):
        host.ensure({**missing, "java_home": "/nowhere"}, False)


@pytest.mark.parametrize(
    ("release", "package"),
    [
        ({"ID": "debian", "VERSION_ID": "12"}, "openjdk-17-jre-headless"),
        ({"ID": "debian", "VERSION_ID": "13"}, "default-jre-headless"),
        ({"ID": "debian", "PRETTY_NAME": "trixie/sid"}, "default-jre-headless"),
        ({"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"}, "openjdk-17-jre-headless"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "java-17-openjdk-headless"),
        ({}, "openjdk-17-jre-headless"),
    ],
)
def test_the_package_fits_the_system_and_check_advises_the_same(
    host: ModuleType, release: dict[str, str], package: str
) -> None:
    assert host.java.package("".join(f'{key}="{value}"\n' for key, value in release.items())) == package
    assert system._install(host_facts.HostFacts(os=release)).split()[-1] == package


def test_a_file_where_a_directory_should_be_is_refused(
    host: ModuleType, wanted: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/kafka").write_text("not a directory")
    with pytest.raises(host.HostRefusedError, match="is not a directory"):
        host.ensure(wanted, False)
