"""Says as one line of JSON what is on this host: run there as `python3 -`, by Python 3.8 or newer, with nothing else.

What is asked for stands in the last line, which `kcluster.facts.hosts` adds: `say({...})`.
"""

from __future__ import annotations

import grp
import json
import os
import platform
import pwd
import subprocess
import sys
from typing import Any

RUN = "/run"


def say(wanted: dict[str, Any]) -> None:
    """Print everything that is asked for."""
    print(json.dumps(look(wanted)))


def look(wanted: dict[str, Any]) -> dict[str, Any]:
    """Everything about the host and its nodes."""
    units = unit_states([node["unit"] for node in wanted["nodes"]])
    install_dir = wanted["install_dir"]
    role: dict[str, Any] = {}
    exec(compile(wanted["role"], "host.py", "exec"), role)
    return {
        "os": os_name(read("/etc/os-release")),
        "python": platform.python_version(),
        "java": role["java"](wanted["java_home"], wanted["path"] or role["SYSTEMD_PATH"]),
        "memory_bytes": memory(read("/proc/meminfo")),
        "preparation": preparation(role, wanted["preparation"]),
        "releases": releases(install_dir),
        "current": link(os.path.join(install_dir, "current")),
        "nodes": {node["name"]: look_at(node, units[node["unit"]]) for node in wanted["nodes"]},
    }


def preparation(role: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """What the role `host` would change, or why it would not: its own code says so, in check mode."""
    work, refused = role["Work"](True), ""
    try:
        role["prepare"](work, wanted)
    except (role["HostError"], OSError) as problem:
        refused = str(problem)
    files = [[file["after_header"], bool(file["before"])] for file in work.files]
    return {"changes": work.changes, "files": files, "refused": refused}


def look_at(node: dict[str, Any], unit: dict[str, Any]) -> dict[str, Any]:
    """One node: its unit, its files, what its process was started with, its data directories."""
    copies = os.path.join(RUN, node["unit"])
    kept = {path: read(os.path.join(copies, os.path.basename(path))) for path in node["files"]} if unit["pid"] else {}
    return {
        "unit": unit,
        "files": present({path: seen_file(path) for path in node["files"]}),
        "started_with": present(kept),
        "started_release": release_name(read(os.path.join(copies, "release"))) if unit["pid"] else "",
        "directories": present({path: directory(path) for path in node["directories"]}),
    }


def present(found: dict[str, Any]) -> dict[str, Any]:
    """What is there."""
    return {name: value for name, value in found.items() if value is not None}


def read(path: str) -> str | None:
    """The text of a file; None when it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return None


def seen_file(path: str) -> dict[str, Any] | None:
    """A file with its mode and owners."""
    text = read(path)
    if text is None:
        return None
    facts = os.stat(path)
    return {"text": text, "attributes": attributes(facts)}


def attributes(facts: os.stat_result) -> str:
    """Owner, group and mode as one text: "root:kafka 0640"."""
    return f"{owner(facts.st_uid)}:{group(facts.st_gid)} {facts.st_mode & 0o7777:04o}"


def owner(number: int) -> str:
    """The name of an account, or its number."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def group(number: int) -> str:
    """The name of a group, or its number."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def directory(path: str) -> dict[str, Any] | None:
    """A data directory: whose it is, what it lies on, and whom its content belongs to."""
    try:
        names, facts, space = os.listdir(path), os.stat(path), os.statvfs(path)
    except OSError:
        return None
    mount, filesystem = mount_of(os.path.realpath(path), read("/proc/self/mountinfo") or "")
    return {
        "attributes": attributes(facts),
        "mount": mount,
        "filesystem": filesystem,
        "free_bytes": space.f_bavail * space.f_frsize,
        "total_bytes": space.f_blocks * space.f_frsize,
        "empty": not set(names) - {"lost+found"},
        "meta": pairs(read(os.path.join(path, "meta.properties")) or ""),
        "myid": (read(os.path.join(path, "myid")) or "").strip(),
        "metadata": "__cluster_metadata-0" in names,
    }


def pairs(text: str) -> dict[str, str]:
    """The lines `key=value` of a text, without comments."""
    lines = [line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#")]
    return {key.strip(): value.strip() for key, _, value in lines}


def mount_of(path: str, mountinfo: str) -> tuple[str, str]:
    """The mount point a path lies on, and its file system; of two on the same place the later one counts."""
    best = ("", "")
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        point = unescaped(left.split()[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, right.split()[0])
    return best


def unescaped(point: str) -> str:
    """A mount point as it is written: blanks stand there as numbers."""
    return point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")


def releases(install_dir: str) -> list[str]:
    """The release directories whose marker says that they are complete."""
    try:
        names = sorted(os.listdir(install_dir))
    except OSError:
        return []
    there = [name for name in names if not os.path.islink(os.path.join(install_dir, name))]
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
    words = "Id,LoadState,ActiveState,UnitFileState,MainPID,NRestarts"
    try:
        command = ["systemctl", "show", "--no-pager", "-p", words, *(f"{name}.service" for name in names)]
        told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()
    except OSError:
        told = ""  # a host without systemd has no units
    blocks = [pairs(block) for block in told.split("\n\n")]
    found = {block["Id"]: block for block in blocks if "Id" in block}
    return {name: unit_state(found.get(f"{name}.service", {})) for name in names}


def unit_state(told: dict[str, str]) -> dict[str, Any]:
    """A unit out of what systemd says about it."""
    pid = int(told.get("MainPID", "0")) or None
    missing = told.get("LoadState", "not-found") == "not-found" and not pid
    return {
        "state": "missing" if missing else told["ActiveState"],
        "enabled": told.get("UnitFileState") == "enabled",
        "pid": pid,
        "uptime_seconds": uptime(read(f"/proc/{pid}/stat"), read("/proc/uptime")) if pid else None,
        "memory_bytes": resident(read(f"/proc/{pid}/status")) if pid else None,
        "restarts": int(told.get("NRestarts") or 0),
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
