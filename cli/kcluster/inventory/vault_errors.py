"""Why a vaulted value or file of an inventory cannot be decrypted: no password, or a wrong one, of which vault id."""

from __future__ import annotations

import os
from pathlib import Path

from kcluster.errors import InventoryError
from kcluster.inventory import cache

_HEADER = "$ANSIBLE_VAULT;"


def of_value(ciphertext: str, inventory: Path, problem: InventoryError) -> InventoryError:
    """The error for a vaulted value, in the file that contains its ciphertext."""
    body = (ciphertext.splitlines() or [""])[-1].strip().encode()
    file = next((path for path in cache.files(inventory) if body and body in path.read_bytes()), inventory)
    return _error(f"a vaulted value in {os.path.relpath(file)}", ciphertext, problem)


def of_file(inventory: Path, problem: InventoryError) -> InventoryError | None:
    """The error for a file that is vaulted as a whole; None when that is not why Ansible cannot read the inventory."""
    if "vault" not in problem.details.lower() and "decrypt" not in problem.details.lower():
        return None
    for path in cache.files(inventory):
        text = path.read_text(errors="replace")
        if text.startswith(_HEADER):
            return _error(f"the vaulted file {os.path.relpath(path)}", text, problem)
    return None


def _error(subject: str, ciphertext: str, problem: InventoryError) -> InventoryError:
    identity = _identity(ciphertext)
    if "Decryption failed" in problem.details:
        return InventoryError(
            f"{subject} cannot be decrypted: none of the given passwords is that of vault id {identity}",
            resolution=_resolution(identity),
        )
    return InventoryError(
        f"{subject} cannot be decrypted: no password of vault id {identity} is given",
        details="\n".join(line for line in problem.details.splitlines() if "vault password file" in line),
        resolution=_resolution(identity),
    )


def _identity(ciphertext: str) -> str:
    """The fourth word of the header, `$ANSIBLE_VAULT;1.2;AES256;prod`; without one it is Ansible's default."""
    words = ciphertext.partition("\n")[0].strip().split(";")
    return words[3] if len(words) > 3 else "default"


def _resolution(identity: str) -> str:
    return "--vault-password-file FILE" if identity == "default" else f"--vault-id {identity}@FILE"
