"""Files and directories: compared with what is wanted, written whole or not at all."""

from __future__ import annotations

import grp
import os
import pwd
import stat
import tempfile


class RefusedError(Exception):
    """Something that has to be said to people in one sentence."""


def differs(wanted):
    """How a file or directory differs from what is wanted: None, or what it is now and what it shall be."""
    now = state(wanted["path"])
    said = dict(now, path=wanted["path"], wanted=spelled(wanted))
    if "text" not in wanted:
        return said if now["attributes"] != spelled(wanted) else None
    same = now["text"] == wanted["text"]
    return said if not same or now["attributes"] != spelled(wanted) else None


def state(path):
    """What is there: its owner, group and mode as one text, and the text of a file."""
    try:
        facts = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"attributes": "", "text": None}
    text = None
    if stat.S_ISREG(facts.st_mode):
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
    mode = format(stat.S_IMODE(facts.st_mode), "04o")
    return {"attributes": f"{owner(facts.st_uid)}:{group(facts.st_gid)} {mode}", "text": text}


def spelled(wanted):
    """Owner, group and mode as one text."""
    return "{owner}:{group} {mode}".format(**wanted)


def make_directory(wanted):
    """A directory with its owner and mode; what lies in it stays as it is, however much that is."""
    os.makedirs(wanted["path"], mode=0o755, exist_ok=True)
    give(wanted["path"], wanted)


def write(wanted):
    """A file, whole: whoever reads it sees the old text or the new one, also after a power cut."""
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


def sync(folder):
    """Let the names in a folder reach the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def give(path, wanted):
    """Set owner, group and mode of one thing."""
    try:
        number, of = pwd.getpwnam(wanted["owner"]).pw_uid, grp.getgrnam(wanted["group"]).gr_gid
    except KeyError:
        raise RefusedError(
            "there is no account {owner}:{group} on this host; the role kcluster.kafka.host makes it".format(**wanted)
        ) from None
    os.chown(path, number, of)
    os.chmod(path, int(wanted["mode"], 8))


def owner(number):
    """The name of an account, or its number."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def group(number):
    """The name of a group, or its number."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
