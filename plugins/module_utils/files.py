"""Files and directories of a host: read, compared with what is wanted, and written whole or not at all."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import Any, Dict

from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError

Wanted = Dict[str, Any]
"""A file or directory as it shall be: path, owner, group, mode, and for a file its text."""


def read(path: str) -> str | None:
    """The text of a file; None when it is not there or cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError:
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
        facts = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"attributes": "", "text": None}
    text = None
    if stat.S_ISREG(facts.st_mode):
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
    return {"attributes": attributes(facts), "text": text}


def drift(wanted: Wanted) -> dict[str, Any] | None:
    """How a file or directory differs from what is wanted: None, or its state, its path and the wanted attributes."""
    now = state(wanted["path"])
    same = now["attributes"] == spelled(wanted) and ("text" not in wanted or now["text"] == wanted["text"])
    return None if same else dict(now, path=wanted["path"], wanted=spelled(wanted))


def make_directory(wanted: Wanted) -> None:
    """Make a directory with its owner and mode; what lies in it stays as it is, however much that is."""
    os.makedirs(wanted["path"], mode=0o755, exist_ok=True)
    give(wanted["path"], wanted)


def write(wanted: Wanted) -> None:
    """Write a file whole: a reader sees the old text or the new one, also after a power cut."""
    import tempfile  # costs more than the rest together, and most scripts write nothing

    folder = os.path.dirname(wanted["path"])
    os.makedirs(folder, mode=0o755, exist_ok=True)
    handle, fresh = tempfile.mkstemp(prefix=".kcluster-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(wanted["text"])
            give(fresh, wanted)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, wanted["path"])
    except BaseException:
        os.unlink(fresh)
        raise
    sync(folder)


def sync(folder: str) -> None:
    """Flush the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def give(path: str, wanted: Wanted) -> None:
    """Set owner, group and mode of one file or directory; HostRefusedError when there is no such account."""
    try:
        number, of = pwd.getpwnam(wanted["owner"]).pw_uid, grp.getgrnam(wanted["group"]).gr_gid
    except KeyError:
        raise HostRefusedError(
            "there is no account {owner}:{group} on this host; the role kcluster.kafka.host makes it".format(**wanted)
        ) from None
    os.chown(path, number, of)
    os.chmod(path, int(wanted["mode"], 8))
