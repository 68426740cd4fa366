"""The content of an inventory, exported by ansible-inventory."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from kcluster.clients import python_packages
from kcluster.errors import InventoryError

STRICT = {
    # Without these a file that does not parse is skipped: exit code 0 and an empty inventory.
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true",
    "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
    # Ansible refuses to start in a locale that is not UTF-8.
    "LC_ALL": "C.UTF-8",
    "ANSIBLE_NOCOLOR": "true",
}


def program(word: str = "ansible-inventory") -> Path:
    """A program of Ansible, from the Python environment that kcluster runs in."""
    return Path(sys.executable).with_name(word)


def list_command(inventory: Path) -> list[str]:
    """The command that prints an inventory as JSON, with the variables of each group kept apart."""
    return [str(program()), "-i", str(inventory), "--list", "--export"]


def export_inventory(inventory: Path) -> dict[str, Any]:
    """The data of an inventory; InventoryError when Ansible cannot read it."""
    if not program().is_file():
        raise InventoryError(
            f"{program()} is missing, so no inventory can be read",
            resolution=python_packages.install("ansible-core"),
        )
    return dict(json.loads(_run(list_command(inventory), str(inventory))))


def decrypt(ciphertext: str) -> str:
    """The text of a value that ansible-vault encrypted; the password comes from Ansible's own settings."""
    return _run([str(program("ansible-vault")), "decrypt", "--output", "-"], "a vaulted value", ciphertext)


def _run(command: list[str], subject: str, text: str = "") -> str:
    import subprocess

    done = subprocess.run(
        command, input=text, capture_output=True, text=True, env={**os.environ, **STRICT}, check=False
    )
    if done.returncode:
        raise InventoryError(
            f"Ansible cannot read {subject}",
            details=_errors(done.stderr),
            resolution=" ".join([Path(command[0]).name, *command[1:]]) + "  (shows the whole output)",
        )
    return done.stdout


def _errors(stderr: str) -> str:
    """The lines marked as errors; all of them when Ansible marks none."""
    marked = [line.removeprefix("[ERROR]: ") for line in stderr.splitlines() if line.startswith("[ERROR]: ")]
    return "\n".join(dict.fromkeys(marked)) or stderr.strip()
