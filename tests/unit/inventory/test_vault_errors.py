"""A missing vault password and a wrong one are told apart, with the vault id and the file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.clients import ansible
from kcluster.errors import InventoryError
from kcluster.inventory import vault_errors

VALUE = "$ANSIBLE_VAULT;1.2;AES256;prod\n6162\n6364\n"


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "all.yml").write_text("spark_secret: !vault |\n  " + VALUE.replace("\n", "\n  "))
    path = tmp_path / "hosts.yml"
    path.write_text("kafka_broker: {hosts: {b: {kafka_broker_id: 1}}}\n")
    return path


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ("Decryption failed (no vault secrets were found that could decrypt).", "none of the given passwords is that"),
        ("EOF when reading a line", "no password"),
    ],
)
def test_a_value_is_named_by_its_file_and_vault_id(hosts: Path, details: str, reason: str) -> None:
    error = vault_errors.of_value(VALUE, hosts, InventoryError("x", details=details))
    assert error.message.startswith(f"a vaulted value in group_vars/all.yml cannot be decrypted: {reason}")
    assert "of vault id prod" in error.message
    assert error.resolution == "--vault-id prod@FILE"


def test_another_reason_is_not_taken_for_a_vault(hosts: Path) -> None:
    assert vault_errors.of_file(hosts, InventoryError("x", details="mapping values are not allowed")) is None


def test_a_vaulted_file_is_named_without_a_password_and_with_a_wrong_one(
    hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = hosts.parent
    right, wrong = folder / "right.txt", folder / "wrong.txt"
    right.write_text("sesame\n")
    wrong.write_text("open\n")
    file = folder / "group_vars" / "all.yml"
    file.write_text("spark_secret: s\n")
    vault = [ansible.program("ansible-vault"), "encrypt", "--vault-id", f"prod@{right}", file]
    subprocess.run(vault, capture_output=True, check=True)
    messages = []
    for password in ("", str(wrong)):
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", password) if password else None
        with pytest.raises(InventoryError) as caught:
            inventory.load(hosts)
        messages.append(caught.value.message)
        assert "ansible-inventory" not in caught.value.resolution
    subject = "the vaulted file group_vars/all.yml cannot be decrypted"
    assert messages == [
        f"{subject}: no password of vault id prod is given",
        f"{subject}: none of the given passwords is that of vault id prod",
    ]
