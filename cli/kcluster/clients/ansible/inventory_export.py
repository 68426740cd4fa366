"""The content of an inventory, exported by ansible-inventory."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
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
_PROCESS = Path(__file__).with_name("inventory_process.py")
_NO_FACTS = {"ANSIBLE_CACHE_PLUGIN": "memory"}
"""Facts of an earlier day, which Ansible may have kept, are not taken for an inventory's own."""
PATIENCE = 20.0
"""Seconds for one template: one with a lookup may ask somebody who does not answer."""


def program(word: str = "ansible-inventory") -> Path:
    """A program of Ansible, from the Python environment that kcluster runs in."""
    return Path(sys.executable).with_name(word)


def list_command(inventory: Path) -> list[str]:
    """The command that prints an inventory as JSON, with the variables of each group kept apart."""
    return [str(program()), "-i", str(inventory), "--list", "--export"]


def export_inventory(inventory: Path, prefixes: Sequence[str]) -> dict[str, Any]:
    """The data of an inventory, with what its templates give in variables with these prefixes.

    InventoryError when Ansible cannot read it.
    """
    if not program().is_file():
        raise InventoryError(
            f"{program()} is missing, so no inventory can be read",
            resolution=python_packages.install("ansible-core"),
        )
    options = list_command(inventory)[1:]
    # -P: else the modules beside the script could be taken for others
    command = [sys.executable, "-P", str(_PROCESS), ",".join(prefixes), f"{PATIENCE:g}", *options]
    return dict(json.loads(_run(command, str(inventory), shown=list_command(inventory))))


def decrypt(ciphertext: str) -> str:
    """The text of a value that ansible-vault encrypted; the password comes from Ansible's own settings."""
    return _run([str(program("ansible-vault")), "decrypt", "--output", "-"], "a vaulted value", ciphertext)


def _run(command: list[str], subject: str, text: str = "", shown: Sequence[str] = ()) -> str:
    """What a program of Ansible prints; `shown` is what people may try in its place."""
    import subprocess

    tried = shown or command
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, env={**os.environ, **STRICT, **_NO_FACTS}, check=False
    )
    if done.returncode:
        raise InventoryError(
            f"Ansible cannot read {subject}",
            details=_errors(done.stderr),
            resolution=f"{Path(tried[0]).name} {' '.join(tried[1:])}  (shows the whole output)",
        )
    return done.stdout


def _errors(stderr: str) -> str:
    """The lines marked as errors; all of them when Ansible marks none."""
    marked = [line.removeprefix("[ERROR]: ") for line in stderr.splitlines() if line.startswith("[ERROR]: ")]
    return "\n".join(dict.fromkeys(marked)) or stderr.strip()
