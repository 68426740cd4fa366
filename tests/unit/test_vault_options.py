"""The passwords of vaulted values as options, with the real Ansible."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kcluster import vault_options
from kcluster.clients import ansible

HOSTS = """
all:
  vars:
    kafka_config: {ssl.key.password: "{{ secret }}"}
    secret: %s
  children:
    zookeeper: {hosts: {h1: {zookeeper_id: 1}}}
    kafka_broker: {hosts: {h1: {kafka_broker_id: 1}}}
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An inventory with a value of the vault id prod, its password, and another one."""
    folder = tmp_path_factory.mktemp("vaulted")
    for name in ("right", "wrong"):
        (folder / name).write_text(name)
    encrypt = [ansible.program("ansible-vault"), "encrypt_string", "--vault-id", f"prod@{folder / 'right'}", "hunter2"]
    secret = subprocess.run(encrypt, capture_output=True, text=True, check=True).stdout
    (folder / "hosts.yml").write_text(HOSTS % secret)
    return folder


@pytest.fixture
def validate(folder: Path) -> Run:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_VAULT")}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kcluster", "validate", "-i", "hosts.yml", *options]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("options", [("--vault-password-file", "right"), ("--vault-id", "prod@right")])
def test_a_password_opens_what_is_vaulted(validate: Run, options: tuple[str, ...]) -> None:
    done = validate(*options)
    assert done.returncode == 0, done.stderr


def test_a_wrong_password_is_told_from_a_missing_one(validate: Run) -> None:
    wrong, missing = validate("--vault-id", "prod@wrong"), validate()
    assert (wrong.returncode, missing.returncode) == (3, 3)
    assert "no vault secrets were found that could decrypt" in wrong.stdout
    assert "no vault secrets found" in missing.stdout
    assert "--vault-id ID@FILE" in missing.stdout


@pytest.mark.parametrize("given", ["nowhere", "right,left"])
def test_a_file_that_cannot_be_meant_is_refused(validate: Run, folder: Path, given: str) -> None:
    (folder / "right,left").write_text("right")
    done = validate("--vault-password-file", given)
    assert done.returncode == 2
    assert f"vault password file {given}" in done.stderr


def test_a_password_that_is_asked_for_is_its_owners_alone_and_never_on_a_pipe(
    validate: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no terminal to ask" in validate("--ask-vault-password").stderr
    monkeypatch.setattr("kcluster.show.interactive", lambda: True)
    monkeypatch.setattr("kcluster.show.secret", lambda question: "right")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/nobody-is-logged-in")  # as after sudo
    label, _, path = vault_options._source("prod@prompt").partition("@")
    assert (label, Path(path).read_text()) == ("prod", "right")
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
