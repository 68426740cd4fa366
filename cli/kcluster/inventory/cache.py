"""The cache of inventory exports, valid until a file of the inventory changes; a new export takes half a second."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kcluster import paths
from kcluster.clients import ansible
from kcluster.clients.ansible.run_environment import FOR_PLAYBOOKS
from kcluster.inventory.schema import PREFIXES

_DYNAMIC = re.compile(rb"^plugin\s*:", re.MULTILINE)
_SECRET = (b"$ANSIBLE_VAULT", b"!vault")
_VARYING = re.compile(rb"\b(lookup|query|q|now)\s*\(|\|\s*(random|shuffle)\b")
"""What a template may ask and get another answer the next time, or a secret."""


def export(inventory: Path) -> dict[str, Any]:
    """The export of an inventory, from the cache where nothing has changed."""
    key = fingerprint(inventory)
    place = _place(inventory)
    if key and (cached := _load(place, key)) is not None:
        return cached
    exported = ansible.export_inventory(inventory, (*PREFIXES, "ansible_"))
    if key:
        _store(place, key, exported)
    return exported


def files(inventory: Path) -> list[Path]:
    """Every file Ansible may read for an inventory, in a stable order."""
    if inventory.is_dir():
        return sorted(_below(inventory))
    beside = [inventory.parent / "group_vars", inventory.parent / "host_vars"]
    return [inventory, *sorted(path for folder in beside if folder.is_dir() for path in _below(folder))]


def fingerprint(inventory: Path) -> str:
    """A hash of everything the export depends on; empty for what must not be cached: scripts, secrets, lookups."""
    digest = hashlib.sha256(f"{inventory.absolute()}\n{_environment()}\n".encode())
    for path in files(inventory):
        content = path.read_bytes()
        if _dynamic(path, content) or any(mark in content for mark in _SECRET) or _VARYING.search(content):
            return ""
        digest.update(f"{path.absolute()}\n{len(content)}\n".encode() + content)
    for path in _configurations():
        digest.update(path.read_bytes() if path.is_file() else b"-")
    return digest.hexdigest()


def _below(folder: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(directory, name) for name in names if not name.startswith("."))


def _dynamic(path: Path, content: bytes) -> bool:
    """Whether the file is a script or names a plugin, whose next export may differ."""
    return content.startswith(b"#!") or os.access(path, os.X_OK) or bool(_DYNAMIC.search(content))


def _environment() -> str:
    """Ansible's program and its settings in the environment, the same in the CLI and in plugins of a playbook."""
    program = ansible.program()
    stamp = program.stat().st_mtime_ns if program.is_file() else 0
    names = {name for name in os.environ if name.startswith("ANSIBLE_")} - FOR_PLAYBOOKS
    settings = sorted(f"{name}={os.environ[name]}" for name in names)
    return "\n".join([str(program), str(stamp), *settings])


def _configurations() -> list[Path]:
    """The files where Ansible looks for its configuration."""
    named = os.environ.get("ANSIBLE_CONFIG")
    return [
        *([Path(named)] if named else []),
        Path("ansible.cfg"),
        Path.home() / ".ansible.cfg",
        Path("/etc/ansible/ansible.cfg"),
    ]


def _place(inventory: Path) -> Path:
    """The cache file of an inventory: one for each, so that the cache does not grow with every change."""
    name = hashlib.sha256(str(inventory.absolute()).encode()).hexdigest()[:24]
    return paths.cache() / "inventories" / f"{name}.json"


def _load(place: Path, key: str) -> dict[str, Any] | None:
    try:
        kept = json.loads(place.read_bytes())
    except (OSError, ValueError):  # missing or half written: export again
        return None
    return kept["said"] if isinstance(kept, dict) and kept.get("key") == key else None


def _store(place: Path, key: str, exported: dict[str, Any]) -> None:
    fresh = place.with_suffix(f".{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # Readable by its owner only: inventories may contain passwords.
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"key": key, "said": exported}, file)
        fresh.replace(place)
    except OSError:  # without the cache commands are slower, nothing else
        return
