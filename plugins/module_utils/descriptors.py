"""Opening files and directories as root where services own directories: by descriptor, and past no link of theirs."""

from __future__ import annotations

import errno
import os
import stat

from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError

TRUSTED = {0, os.geteuid()}
"""The accounts whose symbolic links are followed: with one in its directory a service could point root at any file."""

_MOST_STEPS = 400
"""Names and links on one way; more is a circle of links."""


def opened(path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a file or directory; HostRefusedError where a link on the way is not a trusted account's."""
    chain, rest = [os.open("/", os.O_PATH)], path.split("/")
    try:
        for _ in range(_MOST_STEPS):
            if not rest:
                # What was looked at, whatever stands at the path by now; a pipe is not waited for.
                return os.open(f"/proc/self/fd/{chain[-1]}", flags | os.O_NONBLOCK)
            chain.append(os.open(rest.pop(0) or ".", os.O_PATH | os.O_NOFOLLOW, dir_fd=chain[-1]))
            target = _target(chain[-1])
            if target:
                os.close(chain.pop())
                rest[:0] = target.split("/")
            if target.startswith("/"):
                chain.append(os.open("/", os.O_PATH))
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    finally:
        for descriptor in chain:
            os.close(descriptor)


def opened_directory(path: str) -> int:
    """A descriptor of a directory, which is made, with those above it, where it is missing."""
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        return opened(path, flags)
    except FileNotFoundError:
        above, name = os.path.split(os.path.normpath(path))
        folder = opened_directory(above)
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    finally:
        os.close(folder)
    return opened(path, flags)


def _target(descriptor: int) -> str:
    """Where a link leads; empty for what is none."""
    facts = os.fstat(descriptor)
    if not stat.S_ISLNK(facts.st_mode):
        return ""
    target = os.readlink("", dir_fd=descriptor)
    if facts.st_uid not in TRUSTED:
        link = os.readlink(f"/proc/self/fd/{descriptor}")
        raise HostRefusedError(
            f"{link} is a symbolic link to {target} and belongs to the account {facts.st_uid}, not to root: what it "
            f"points to is neither read nor changed\ntry: find out who made it, then remove it: rm {link}"
        )
    return target
