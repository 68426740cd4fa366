"""Prints as one line of JSON what `kcluster check` must know of this host: `facts/preflight/collect.py` sends it."""

from __future__ import annotations

import json
import os
import pwd
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from ansible_collections.kcluster.kafka.plugins.module_utils import (
    disk_identity,
    java,
    preflight_network,
    sockets,
    ssh_session,
)
from ansible_collections.kcluster.kafka.plugins.module_utils.files import listed, nearest, read
from ansible_collections.kcluster.kafka.plugins.module_utils.mounts import missing_mount, mount_of
from ansible_collections.kcluster.kafka.plugins.module_utils.unit_owner import description

SAMPLES, SAMPLE_SECONDS = 30, 1.0


def examine(question: dict[str, Any]) -> dict[str, Any]:
    """The facts of this host; its disks are timed while the rest is read."""
    begun = time.time()
    probes = {path: Probe(path) for path in question["journals"]}
    facts = {
        "begun": begun,
        "startup": since_login(),
        "root": os.geteuid() == 0,
        "python": ".".join(map(str, sys.version_info[:3])),
        "os": dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text("/etc/os-release"), re.M)),
        "systemd": os.path.isdir("/run/systemd/system"),
        "java": {home: java_facts(home) for home in question["java_homes"]},
        "memory": memory(),
        "swaps": [line.split()[0] for line in text("/proc/swaps").splitlines()[1:]],
        "kernel": {key: text("/proc/sys/" + key).strip() for key in question["kernel"]},
        "huge_pages": re.findall(r"\[(\w+)\]", text("/sys/kernel/mm/transparent_hugepage/enabled")),
        "directories": {path: directory(path) for path in question["directories"]},
        "units": {path: description(path) or "" for path in question["units"]},
        "ports": listening(question["ports"]),
        "addresses": addresses() if question["addresses"] else [],
        "accounts": {user: account(user) for user in question["users"]},
    }
    facts["journals"] = {path: probe.result() for path, probe in probes.items()}
    return dict(facts, ended=time.time())


def text(path: str) -> str:
    """The text of a file; empty when it cannot be read."""
    return read(path) or ""


def since_login() -> float | None:
    """Seconds since sshd started the shell of this session: what its start-up files cost each command."""
    shell = ssh_session.first_process()
    if not shell:
        return None
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(shell[ssh_session.STARTED]) / os.sysconf("SC_CLK_TCK")


def memory() -> int:
    """Bytes of memory; of a container as much as it may use."""
    found = re.search(r"^MemTotal:\s+(\d+)", text("/proc/meminfo"), re.M)
    total = int(found.group(1)) * 1024 if found else 0
    limit = text("/sys/fs/cgroup/memory.max").strip()
    return min(total, int(limit)) if limit.isdigit() else total


def java_facts(home: str) -> dict[str, str] | None:
    """The Java that a unit would start, and its version; None when there is none."""
    program = java.program(home)
    return {"program": program, "version": java.version(program)} if program else None


def account(user: str) -> int | None:
    """The number of an account; nothing when there is none."""
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def directory(path: str) -> dict[str, Any]:
    """A data directory, or the nearest one above it that is there, and the disk below it."""
    there = nearest(path)
    disk = os.statvfs(there)
    mount, filesystem = mount_of(there)
    return {
        "exists": os.path.isdir(path),
        "nearest": there,
        "owner": os.stat(path).st_uid if os.path.isdir(path) else None,
        "mount": mount,
        "filesystem": filesystem,
        "unmounted": missing_mount(path),
        "read_only": bool(disk.f_flag & os.ST_RDONLY),
        "free": disk.f_bavail * disk.f_frsize,
        "total": disk.f_blocks * disk.f_frsize,
        "free_inodes": disk.f_favail,
        "inodes": disk.f_files,
        "entries": listed(path),
        "no_partitions": disk_identity.no_partitions(path),
        "meta": disk_identity.meta(path),
        "myid": disk_identity.myid(path),
    }


class Probe:
    """Times small synced writes on the disk of a directory, in a thread of its own."""

    def __init__(self, path: str) -> None:
        self.place, self.problem = probe_place(path), ""
        self.times: list[float] = []
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self) -> None:
        """Write 4 KiB and wait for the disk, again and again, in a file that has no name."""
        if not self.place:
            self.problem = "it has data and is a mount of its own: nothing is written into it"
            return
        try:
            file = unnamed(self.place)
            try:
                self.measure(file)
            finally:
                os.close(file)
        except OSError as problem:
            self.problem = problem.strerror or str(problem)

    def measure(self, file: int) -> None:
        """So many samples, or as many as the time allows."""
        ending = time.monotonic() + SAMPLE_SECONDS
        while len(self.times) < SAMPLES and time.monotonic() < ending:
            begun = time.monotonic()
            os.pwrite(file, b"k" * 4096, len(self.times) * 4096)
            os.fdatasync(file)
            self.times.append(time.monotonic() - begun)

    def result(self) -> dict[str, Any]:
        """The times in milliseconds, sorted."""
        self.thread.join()
        times = sorted(round(each * 1000, 3) for each in self.times)
        return {"place": self.place, "times": times, "problem": self.problem}


def probe_place(path: str) -> str | None:
    """A directory on the same disk to write in, but never one with data."""
    if not os.path.isdir(path):
        return nearest(path)
    if not set(os.listdir(path)) - {"lost+found"}:
        return path
    above = os.path.dirname(os.path.realpath(path))
    return above if os.stat(above).st_dev == os.stat(path).st_dev else None


def unnamed(folder: str) -> int:
    """A new file without a name: it is gone when it is closed, however that happens."""
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:  # not every file system can do that
        path = os.path.join(folder, f".kcluster-check-{os.getpid()}")
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        os.unlink(path)
        return file


def listening(ports: list[int]) -> dict[str, dict[str, Any]]:
    """The ports that are in use, with the process and the unit it belongs to; listeners of checks do not count."""
    found = held(ports)
    # One that was closed between the two readings is held by nobody: the leader of ZooKeeper opens and closes a port.
    return found if all(each["pid"] for each in found.values()) else held(ports)


def held(ports: list[int]) -> dict[str, dict[str, Any]]:
    """The same as it looks at one moment."""
    everywhere = {name: int(address.rpartition(":")[2]) for name, address in sockets.listening().items()}
    in_use = {name: port for name, port in everywhere.items() if port in ports}
    found: dict[str, dict[str, Any]] = {str(port): {"pid": None, "program": "", "unit": ""} for port in in_use.values()}
    for process, port in owners(in_use):
        if text(f"/proc/{process}/comm").strip() == preflight_network.NAME:
            found.pop(str(port), None)
        else:
            found[str(port)] = {"pid": process, "program": program(process), "unit": unit(process)}
    return found


def owners(in_use: dict[str, int]) -> Iterator[tuple[int, int]]:
    """The processes that hold one of these sockets."""
    for process in os.listdir("/proc") if in_use else []:
        for name in sockets.open_files(process) & set(in_use) if process.isdigit() else ():
            yield int(process), in_use[name]


def program(process: int) -> str:
    """What a process was called with, shortened."""
    words = text(f"/proc/{process}/cmdline").replace("\0", " ").strip()
    return words if len(words) <= 60 else words[:57] + "..."


def unit(process: int) -> str:
    """The systemd unit of a process; empty when it is in none."""
    found = re.findall(r"[^/\n]+\.(?:service|scope)", text(f"/proc/{process}/cgroup"))
    return str(found[-1]) if found else ""


def addresses() -> list[str]:
    """The addresses of this host."""
    answer = java.output(["ip", "-o", "addr"])
    return sorted(set(re.findall(r"\binet6? ([0-9a-fA-F.:]+)", answer)))


def main(question: dict[str, Any]) -> None:
    """One line of JSON for `kcluster`."""
    print(json.dumps(examine(question)))
