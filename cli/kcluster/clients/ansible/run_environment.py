"""The environment of Ansible: the collection, its settings, and a folder for the sockets of kept connections."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from pathlib import Path

from kcluster import paths
from kcluster.clients.ansible.inventory_export import STRICT
from kcluster.errors import UsageError

_SSH = "-o ControlMaster=auto -o ControlPersist=600s -o Compression=no -o ServerAliveInterval=10"

_SETTINGS = {
    "ANSIBLE_STDOUT_CALLBACK": "kcluster.kafka.events",
    "ANSIBLE_PIPELINING": "true",
    "ANSIBLE_GATHERING": "explicit",
    "ANSIBLE_INJECT_FACT_VARS": "false",
    "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
    "ANSIBLE_HOST_KEY_CHECKING": "true",
    "ANSIBLE_FORCE_COLOR": "false",  # which CI sets, and diffs would carry
    "ANSIBLE_RETRY_FILES_ENABLED": "false",
    "ANSIBLE_DEPRECATION_WARNINGS": "false",
}
FOR_PLAYBOOKS = frozenset(
    {*STRICT, *_SETTINGS, "ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_SSH_ARGS", "ANSIBLE_SSH_CONTROL_PATH_DIR"}
)
"""Settings of ours that do not change the content of an inventory."""


def environment(inventory: Path) -> dict[str, str]:
    """The environment of ansible-playbook: the fastest supported settings, and nothing that guesses."""
    own = {
        **STRICT,
        **_SETTINGS,
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(filter(None, [str(collections()), _user_collections()])),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(sockets(inventory)),
    }
    # SSH arguments that users set stay.
    return {"ANSIBLE_SSH_ARGS": _SSH, **os.environ, **own}


def collections() -> Path:
    """A folder in which Ansible finds this project as the collection kcluster.kafka."""
    project = paths.project().resolve()
    tree = paths.cache() / "collections" / _short(str(project))
    link = tree / "ansible_collections" / "kcluster" / "kafka"
    if link.is_symlink() and link.readlink() == project:
        return tree
    link.parent.mkdir(parents=True, exist_ok=True)
    fresh = link.with_name(f".kafka.{threading.get_native_id()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(project)
    fresh.replace(link)
    return tree


def sockets(inventory: Path) -> Path:
    """A folder for ssh's sockets, one for each user and inventory; short, as a socket's path has 104 bytes at most."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = (
        Path(runtime, "kcluster") if runtime and os.access(runtime, os.W_OK) else Path(f"/tmp/kcluster-{os.getuid()}")
    )
    base.mkdir(mode=0o700, exist_ok=True)
    found = base.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UsageError(f"{base} must be your own folder with mode 0700", resolution=f"rm -r {base}")
    folder = base / _short(str(inventory.absolute()))
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _user_collections() -> str:
    return os.environ.get("ANSIBLE_COLLECTIONS_PATH", "~/.ansible/collections:/usr/share/ansible/collections")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
