# Apache License 2.0 (see LICENSE)
"""What a host must have before Kafka or Spark are installed: the account, directories, kernel settings, Java."""

from __future__ import annotations

import grp
import os
import pwd
import re
import subprocess
from collections.abc import Callable
from typing import Any, Dict

from ansible_collections.kcluster.kafka.plugins.module_utils import java
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError
from ansible_collections.kcluster.kafka.plugins.module_utils.files import drift, make_directory, read

SYSCTL_FILE = "/etc/sysctl.d/60-kcluster-kafka.conf"
KERNEL = "/proc/sys"
SWAPS = "/proc/swaps"

AT_MOST, AT_LEAST = "at most", "at least"

SETTINGS = {
    # A broker that is swapped out answers too late; 1 still lets the kernel swap before it kills.
    "vm.swappiness": (1, AT_MOST),
    # Two maps for each log segment: with the usual 65530 a broker dies at some 30 000 segments.
    "vm.max_map_count": (262144, AT_LEAST),
}

Diff = Dict[str, str]


class Work:
    """The changes of a host; in check mode, those that would be made."""

    def __init__(self, check_mode: bool) -> None:
        self.check_mode = check_mode
        self.changes: list[tuple[str, str, str]] = []
        self.files: list[Diff] = []
        self.notes: list[str] = []

    def change(self, what: str, before: str, after: str, *steps: tuple[Any, ...]) -> None:
        """Note a change and make it, unless this is check mode: each step is a function and its arguments.

        An empty `before` means that it was not there.
        """
        self.changes.append((what, before, after))
        for step, *arguments in () if self.check_mode else steps:
            step(*arguments)

    @property
    def changed(self) -> bool:
        """Whether anything differs from what is wanted."""
        return bool(self.changes or self.files)

    @property
    def sentences(self) -> list[str]:
        """A sentence for each change."""
        changes = [(what, before) for what, before, _ in self.changes]
        changes += [(file["after_header"], file["before"]) for file in self.files]
        return [f"{'change' if before else 'add'} {what}" for what, before in changes]

    @property
    def diff(self) -> list[Diff]:
        """Everything that changes, as Ansible shows it."""
        before = [f"{what} {was}" for what, was, _ in self.changes if was]
        after = [f"{what} {shall_be}".rstrip() for what, _, shall_be in self.changes]
        host = {"before": lines(before), "after": lines(after), **headers("the host")}
        return ([host] if self.changes else []) + self.files


def lines(texts: list[str]) -> str:
    """Texts as lines."""
    return "".join(f"{text}\n" for text in texts)


def headers(text: str) -> Diff:
    """The same header for both sides of a difference."""
    return {"before_header": text, "after_header": text}


def account(work: Work, user: str, group: str) -> None:
    """A group and a user for the services: no password, no shell, no home."""
    if not exists(grp.getgrnam, group):
        work.change(f"group {group}", "", "", (run, "groupadd", "--system", group))
    if not exists(pwd.getpwnam, user):
        bare = ("--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin")
        work.change(f"user {user}", "", f"in group {group}", (run, "useradd", *bare, "--gid", group, user))


def exists(lookup: Callable[[str], Any], name: str) -> bool:
    """Whether there is an account or group of this name."""
    try:
        lookup(name)
    except KeyError:
        return False
    return True


def run(*command: str) -> None:
    """Run a command of the system; HostRefusedError with its output when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise HostRefusedError(f"{' '.join(command)}: {done.stdout.decode(errors='replace').strip()}")


def directory(work: Work, path: str, user: str, group: str, mode: str) -> None:
    """A directory with its owner and mode; what lies in it is left alone."""
    wanted = {"path": path, "owner": user, "group": group, "mode": mode}
    found = drift(wanted)
    if os.path.exists(path) and not os.path.isdir(path):
        raise HostRefusedError(f"{path} is not a directory\ntry: move it away")
    if found:
        work.change(f"directory {path}", found["attributes"], found["wanted"], (make_directory, wanted))


def kernel(work: Work) -> None:
    """Kernel settings: written for the next boot, and applied where the host allows it."""
    before = read(SYSCTL_FILE) or ""
    kept = re.findall(r"^([a-z._]+) *=", before, re.MULTILINE)
    # What a host has already is not written down: a better value of the distribution stays.
    names = [name for name in SETTINGS if name in kept or not good(name, present(name))]
    after = sysctl_text(names)
    if after != before:
        work.files.append({"before": before, "after": after, **headers(SYSCTL_FILE)})
        if not work.check_mode:
            overwrite(SYSCTL_FILE, after)
    for name in names:
        apply(work, name)


def sysctl_text(names: list[str]) -> str:
    """The file with our settings; empty when there are none."""
    settings = [f"{name} = {SETTINGS[name][0]}" for name in names]
    return lines(["# Written by kcluster: what Kafka wants of the kernel.", *settings]) if settings else ""


def apply(work: Work, name: str) -> None:
    """Set one value now, or note that the host does not allow it."""
    wanted, value = SETTINGS[name][0], present(name)
    if good(name, value):
        return
    path = setting_path(name)
    if not os.access(path, os.W_OK):
        work.notes.append(
            f"{name} stays {value} and should be {wanted}: this host's kernel settings cannot be changed here"
        )
        return
    work.change(f"kernel {name}", str(value), str(wanted), (overwrite, path, f"{wanted}\n"))


def present(name: str) -> int | None:
    """The value the kernel has; None when it does not know the setting."""
    text = read(setting_path(name))
    return int(text) if text and text.strip().isdigit() else None


def good(name: str, value: int | None) -> bool:
    """Whether a value serves Kafka; a setting that the kernel does not know needs none."""
    wanted, bound = SETTINGS[name]
    return value is None or (value <= wanted if bound == AT_MOST else value >= wanted)


def setting_path(name: str) -> str:
    """The file of a setting in the kernel's own tree."""
    return os.path.join(KERNEL, *name.split("."))


def overwrite(path: str, text: str) -> None:
    """Write a file in place, because below /proc there is nothing to rename."""
    with open(path, "w") as file:
        file.write(text)


def swap(work: Work) -> None:
    """Advise, but never turn off, swap: other things on the host may need it."""
    if len((read(SWAPS) or "").splitlines()) > 1:
        work.notes.append(
            "swap is on: a broker that is swapped out answers too late; better: swapoff -a, and in /etc/fstab"
        )


def ensure(wanted: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    """Prepare the host and return the result of the module; HostRefusedError, and no change, without its Java."""
    version = java.found_version(wanted["java_home"], wanted["path"])
    name = java.package(read("/etc/os-release") or "")
    lacking = java.lacking(version, wanted["oldest_java"], wanted["java_home"], wanted["release"])
    if lacking and (wanted["java_home"] or not wanted["install_java"]):
        raise HostRefusedError(lacking + java.advice(wanted["java_home"], name))
    work = Work(check_mode)
    prepare(work, wanted)
    swap(work)
    if lacking:  # the role does it next
        work.change(f"package {name}", "", "")
    messages = [*work.notes, *([f"{lacking}; {name} will be installed"] if lacking else [])]
    return {
        "changed": work.changed,
        "changes": work.sentences,
        "diff": work.diff,
        "notes": work.notes,
        "msg": "\n".join(messages),
        "java": version,
        "java_package": name if lacking else "",
    }


def prepare(work: Work, wanted: dict[str, Any]) -> None:
    """Everything but Java; `kcluster plan` runs it in check mode."""
    account(work, wanted["user"], wanted["group"])
    directory(work, wanted["install_dir"], "root", "root", "0755")
    directory(work, wanted["config_dir"], "root", "root", "0755")
    directory(work, wanted["log_dir"], wanted["user"], wanted["group"], "0750")
    kernel(work)
