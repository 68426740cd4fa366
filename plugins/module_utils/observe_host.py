"""Prints as one line of JSON what a plan and a status must know of this host; `kcluster.facts.hosts` sends it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import Any

from ansible_collections.kcluster.kafka.plugins.module_utils import (
    disk_identity,
    host_preparation,
    java,
    recovery,
    sockets,
)
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError
from ansible_collections.kcluster.kafka.plugins.module_utils.files import attributes, listed, pairs, read
from ansible_collections.kcluster.kafka.plugins.module_utils.mounts import mount_of
from ansible_collections.kcluster.kafka.plugins.module_utils.systemd import SHOW, services, states

RUN = "/run"
_UNIT_PROPERTIES = "Id,LoadState,ActiveState,UnitFileState,MainPID,NRestarts"


def main(question: dict[str, Any]) -> None:
    """Print everything that is asked for."""
    print(json.dumps(observe(question)))


def observe(question: dict[str, Any]) -> dict[str, Any]:
    """The facts of the host and of its nodes."""
    units = unit_states([node["unit"] for node in question["nodes"]])
    install_dir = question["install_dir"]
    return {
        "os": os_name(read("/etc/os-release")),
        "python": platform.python_version(),
        "java": java.found_version(question["java_home"], question["path"]),
        "memory_bytes": memory(read("/proc/meminfo")),
        "preparation": preparation(question["preparation"]),
        "releases": releases(install_dir),
        "current": link(os.path.join(install_dir, "current")),
        "nodes": {node["name"]: observe_node(node, units[node["unit"]]) for node in question["nodes"]},
    }


def processes(question: dict[str, Any]) -> None:
    """Print only what the processes of the nodes were started with: for gates, which ask often."""
    units = unit_states([node["unit"] for node in question["nodes"]])
    print(json.dumps({node["name"]: observe_process(node, units[node["unit"]]) for node in question["nodes"]}))


def preparation(wanted: dict[str, Any]) -> dict[str, Any]:
    """What the role `host` would change, or why it would refuse: its own code in check mode."""
    work, refused = host_preparation.Work(True), ""
    try:
        host_preparation.prepare(work, wanted)
    except (HostRefusedError, OSError) as problem:
        refused = str(problem)
    files = [[file["after_header"], bool(file["before"])] for file in work.files]
    return {"changes": work.changes, "files": files, "refused": refused}


def observe_node(node: dict[str, Any], unit: dict[str, Any]) -> dict[str, Any]:
    """One node: its process, its files, its data directories."""
    return {
        **observe_process(node, unit),
        "link": link(node["link"]),
        "files": present({path: observed_file(path) for path in node["files"]}),
        "directories": present({path: directory(path) for path in node["directories"]}),
    }


def observe_process(node: dict[str, Any], unit: dict[str, Any]) -> dict[str, Any]:
    """The unit of a node, what its process was started with, and how far one has come that is not at its port."""
    copies = os.path.join(RUN, node["unit"])
    kept = {path: read(os.path.join(copies, os.path.basename(path))) for path in node["files"]} if unit["pid"] else {}
    listens = any(address.endswith(f":{node['port']}") for address in unit["listening"])
    return {
        "unit": unit,
        "started_with": present(kept),
        "started_release": release_name(read(os.path.join(copies, "release"))) if unit["pid"] else "",
        "recovery": recovery.recovery(unit["pid"], node["log"]) if unit["pid"] and not listens else None,
    }


def present(values: dict[str, Any]) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def observed_file(path: str) -> dict[str, Any] | None:
    """A file with its mode and owners."""
    text = read(path)
    if text is None:
        return None
    facts = os.stat(path)
    return {"text": text, "attributes": attributes(facts)}


def directory(path: str) -> dict[str, Any] | None:
    """A data directory: its owner, its disk, and the identity of its content; None when it cannot be listed."""
    try:
        names, facts, space = os.listdir(path), os.stat(path), os.statvfs(path)
    except OSError:
        return None
    mount, filesystem = mount_of(path)
    return {
        "attributes": attributes(facts),
        "mount": mount,
        "filesystem": filesystem,
        "free_bytes": space.f_bavail * space.f_frsize,
        "total_bytes": space.f_blocks * space.f_frsize,
        "empty": not set(names) - {"lost+found"},
        "meta": disk_identity.meta(path),
        "myid": disk_identity.myid(path),
        "metadata": disk_identity.METADATA in names,
        "written": disk_identity.written(path),
    }


def releases(install_dir: str) -> list[str]:
    """The release directories whose marker says that they are complete."""
    there = [name for name in listed(install_dir) if not os.path.islink(os.path.join(install_dir, name))]
    return [name for name in there if os.path.exists(os.path.join(install_dir, name, ".complete"))]


def link(path: str) -> str:
    """The name of the directory a link points to."""
    try:
        return os.path.basename(os.readlink(path).rstrip("/"))
    except OSError:
        return ""


def release_name(text: str | None) -> str:
    """The release's name out of the copy, which may hold the whole path."""
    return os.path.basename((text or "").strip().rstrip("/"))


def unit_states(names: list[str]) -> dict[str, dict[str, Any]]:
    """The state of each unit and of its process, asked for at once."""
    try:
        command = [*SHOW, _UNIT_PROPERTIES, *services(names)]
        shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()
    except OSError:
        shown = ""  # a host without systemd has no units
    properties = states(shown)
    return {name: unit_state(properties.get(name, {})) for name in names}


def unit_state(properties: dict[str, str]) -> dict[str, Any]:
    """A unit out of its properties."""
    pid = int(properties.get("MainPID", "0")) or None
    missing = properties.get("LoadState", "not-found") == "not-found" and not pid
    return {
        "state": "missing" if missing else properties["ActiveState"],
        "enabled": properties.get("UnitFileState") == "enabled",
        "pid": pid,
        "uptime_seconds": uptime(read(f"/proc/{pid}/stat"), read("/proc/uptime")) if pid else None,
        "memory_bytes": resident(read(f"/proc/{pid}/status")) if pid else None,
        "restarts": int(properties.get("NRestarts") or 0),
        "listening": sockets.listening_of(pid) if pid else [],
    }


def uptime(stat: str | None, machine: str | None) -> float | None:
    """How long a process runs; None when it is gone already."""
    if not stat or not machine:
        return None
    # The name of the program stands in parentheses and may hold blanks; the 20th field after it is the start.
    ticks = int(stat.rpartition(")")[2].split()[19])
    return round(float(machine.split()[0]) - ticks / os.sysconf("SC_CLK_TCK"), 1)


def resident(status: str | None) -> int | None:
    """The memory a process has."""
    for line in (status or "").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return None


def memory(meminfo: str | None) -> int:
    """The memory of the host."""
    for line in (meminfo or "").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return 0


def os_name(text: str | None) -> str:
    """What the system calls itself."""
    return pairs(text or "").get("PRETTY_NAME", sys.platform).strip('"')
