"""Files and directories of a host: read, compared with what is wanted, and written whole or not at all."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import Any, Dict

from ansible_collections.kcluster.kafka.plugins.module_utils.descriptors import opened, opened_directory
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError

Wanted = Dict[str, Any]
"""A file or directory as it shall be: path, owner, group, mode, and for a file its text."""


def read(path: str) -> str | None:
    """The text of a file; None when it is not there, cannot be read, or is behind a link that is not followed."""
    try:
        with open(opened(path), encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except (OSError, HostRefusedError):
        return None


def pairs(text: str) -> dict[str, str]:
    """The lines `key=value` of a text, without comments; of a key that stands twice the last line counts."""
    lines = [line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#")]
    return {key.strip(): value.strip() for key, _, value in lines}


def listed(path: str) -> list[str]:
    """The sorted names in a directory; none when there is no such directory."""
    try:
        return sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def nearest(path: str) -> str:
    """The path, or the nearest directory above it that exists."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def few(names: list[str]) -> str:
    """The first three names, and how many more there are."""
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + rest


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


def attributes(facts: os.stat_result) -> str:
    """Owner, group and mode as one text: "root:kafka 0640"."""
    return f"{owner(facts.st_uid)}:{group(facts.st_gid)} {stat.S_IMODE(facts.st_mode):04o}"


def spelled(wanted: Wanted) -> str:
    """The wanted owner, group and mode as the same kind of text."""
    return "{owner}:{group} {mode}".format(**wanted)


def state(path: str) -> dict[str, str | None]:
    """What a file or directory is: `attributes`, empty when it does not exist, and the `text` of a file."""
    try:
        descriptor = opened(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"attributes": "", "text": None}
    try:
        facts, text = os.fstat(descriptor), None
        if stat.S_ISREG(facts.st_mode):
            with open(descriptor, encoding="utf-8", errors="surrogateescape", newline="", closefd=False) as file:
                text = file.read()
        return {"attributes": attributes(facts), "text": text}
    finally:
        os.close(descriptor)


def drift(wanted: Wanted) -> dict[str, Any] | None:
    """How a file or directory differs from what is wanted: None, or its state, its path and the wanted attributes."""
    now = state(wanted["path"])
    same = now["attributes"] == spelled(wanted) and ("text" not in wanted or now["text"] == wanted["text"])
    return None if same else dict(now, path=wanted["path"], wanted=spelled(wanted))


def make_directory(wanted: Wanted) -> None:
    """Make a directory with its owner and mode; what lies in it stays as it is, however much that is."""
    descriptor = opened_directory(wanted["path"])
    try:
        give(descriptor, wanted)
    finally:
        os.close(descriptor)


def write(wanted: Wanted) -> None:
    """Write a file whole: a reader sees the old text or the new one, also after a power cut."""
    path, name = os.path.split(wanted["path"])
    folder, fresh = opened_directory(path), f".kcluster-{os.urandom(4).hex()}"
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(wanted["text"])
                give(descriptor, wanted)
                file.flush()
                os.fsync(descriptor)
            os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(fresh, dir_fd=folder)
            raise
        os.fsync(folder)
    finally:
        os.close(folder)


def give(descriptor: int, wanted: Wanted) -> None:
    """Set owner, group and mode of an open file or directory; HostRefusedError when there is no such account."""
    try:
        number, of = pwd.getpwnam(wanted["owner"]).pw_uid, grp.getgrnam(wanted["group"]).gr_gid
    except KeyError:
        raise HostRefusedError(
            "there is no account {owner}:{group} on this host; the role kcluster.kafka.host makes it".format(**wanted)
        ) from None
    os.fchown(descriptor, number, of)
    os.fchmod(descriptor, int(wanted["mode"], 8))
