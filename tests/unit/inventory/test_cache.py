"""What Ansible said of an inventory is remembered for as long as it would say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients.ansible.run_environment import environment
from kcluster.inventory import cache


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    file = tmp_path / "hosts.yml"
    file.write_text("all: {hosts: {h1: {}}}\n")
    return file


def test_our_plugins_in_a_playbook_take_what_the_command_line_remembered(
    inventory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cache.fingerprint(inventory)
    for name, value in environment(inventory).items():
        monkeypatch.setenv(name, value)
    assert cache.fingerprint(inventory) == before != ""


def test_a_setting_that_may_change_the_answer_counts(inventory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.fingerprint(inventory)
    monkeypatch.setenv("ANSIBLE_HASH_BEHAVIOUR", "merge")
    assert cache.fingerprint(inventory) != before
