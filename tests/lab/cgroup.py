"""A cgroup of its own for every host: else all lab hosts share one, and a unit stopped on h1 is counted on h2."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tests.lab.machine import LabError, wait_until


def folders(name: str) -> list[Path]:
    """Where a host's processes are counted: cgroup2, and systemd's own old hierarchy where the machine has it."""
    return [Path(mount, f"kcluster-lab-{name}") for mount in (*_mounts("cgroup2"), *_mounts("cgroup", "name=systemd"))]


def freeze(name: str, still: bool) -> None:
    """Let every process of a host stand still, or go on."""
    (_unified(name) / "cgroup.freeze").write_text(str(int(still)))
    wait_until(lambda: frozen(name) is still, 10, f"{name} {'frozen' if still else 'thawed'}")


def frozen(name: str) -> bool:
    """Whether a host stands still."""
    events = _unified(name) / "cgroup.events"
    return events.exists() and "frozen 1" in events.read_text()


def kill(name: str) -> None:
    """End all processes of a host at once: they outlive the nspawn that started them."""
    if (end := _unified(name) / "cgroup.kill").exists():
        end.write_text("1")


def removed(name: str) -> bool:
    """Take away a host's cgroups; not possible as long as one of its processes is there."""
    for folder in folders(name):
        with suppress(OSError):  # a process is still there
            for path, *_ in os.walk(folder, topdown=False):
                os.rmdir(path)
    return not any(folder.exists() for folder in folders(name))


def _unified(name: str) -> Path:
    for mount in _mounts("cgroup2"):
        return Path(mount, f"kcluster-lab-{name}")
    raise LabError("this machine has no cgroup2 file system, which a lab needs")


def _mounts(kind: str, option: str = "") -> list[str]:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    return [
        at for _, at, type_, options, *_ in mounts if type_ == kind and (not option or option in options.split(","))
    ][:1]
