"""The commands for Ansible, and its errors in kcluster's words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kcluster.clients import ansible
from kcluster.errors import InventoryError


def test_the_command_is_the_one_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    assert ansible.list_command(Path("inventories/demo")) == [
        "/venv/bin/ansible-inventory",
        "-i",
        "inventories/demo",
        "--list",
        "--export",
    ]


def test_a_missing_ansible_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(InventoryError, match="ansible-inventory is missing") as caught:
        ansible.export_inventory(tmp_path, ())
    assert caught.value.resolution.endswith("-m pip install ansible-core")


def test_ansibles_error_lines_are_passed_on(tmp_path: Path) -> None:
    broken = tmp_path / "hosts.yml"
    broken.write_text("all: {hosts: [h1]}\n")
    with pytest.raises(InventoryError, match=r"Ansible cannot read .*hosts\.yml") as caught:
        ansible.export_inventory(broken, ())
    assert "hosts" in caught.value.details
    assert caught.value.resolution.startswith(f"ansible-inventory -i {broken} --list")
