# Apache License 2.0 (see LICENSE)
"""A release on its host: what is there, taking one in, and the link `current`. Python 3.8, nothing besides.

The module imports it; the action plugin also sends its text ahead of a release and lets `receive` read the rest.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from contextlib import contextmanager

MARKER = ".complete"
"""Written last: a release without it is not there. It holds the SHA-512 the release arrived with."""

CHUNK = 1 << 16  # tarfile copies what it has read ahead: larger is slower

SILENCE = 60
"""Seconds without a byte after which the sender is taken for gone: a pulled cable ends no connection by itself."""


class RefusedError(Exception):
    """What cannot be done, as one sentence."""


def installed(install_dir, name):
    """The SHA-512 of a release that is complete; nothing when it is not."""
    try:
        with open(os.path.join(install_dir, name, MARKER)) as file:
            return json.load(file).get("sha512", "unknown")
    except (OSError, ValueError, AttributeError):
        return ""


def current(install_dir):
    """The name of the release that `current` points to."""
    link = os.path.join(install_dir, "current")
    if os.path.islink(link):
        return os.path.basename(os.readlink(link).rstrip("/"))
    if os.path.exists(link):
        raise RefusedError(f"{link} is not a link, so it is not ours to change; move it away")
    return ""


def point(install_dir, name):
    """Let `current` point to a release, from one moment to the next; what runs keeps what it was started with."""
    fresh = os.path.join(install_dir, ".current.new")
    if os.path.islink(fresh):
        os.unlink(fresh)
    os.symlink(name, fresh)
    os.replace(fresh, os.path.join(install_dir, "current"))


def leftovers(install_dir):
    """What interrupted runs left behind."""
    found = os.listdir(install_dir) if os.path.isdir(install_dir) else []
    return sorted(name for name in found if name.startswith(".") and name.endswith(".partial"))


def free_bytes(path):
    """What the file system of a path that may not be there yet can still take."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    space = os.statvfs(path)
    return space.f_bavail * space.f_frsize


@contextmanager
def alone(install_dir):
    """One run at a time per host; the operating system lets go of the lock when a run dies."""
    handle = os.open(install_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def clear(install_dir):
    """Remove what interrupted runs left behind."""
    for name in leftovers(install_dir):
        shutil.rmtree(os.path.join(install_dir, name))


class Arriving:
    """A stream that is counted and hashed while it is read."""

    def __init__(self, stream, size):
        self.stream = stream
        self.left = size
        self.hash = hashlib.sha512()

    def read(self, size=CHUNK):
        """The next bytes; nothing at the end."""
        signal.alarm(SILENCE)
        data = self.stream.read(min(size, self.left))
        signal.alarm(0)
        self.left -= len(data)
        self.hash.update(data)
        return data

    def drain(self):
        """Read to the end, so that the hash is that of everything."""
        while self.read():
            pass


def take_in(stream, install_dir, name, sha512, size):
    """Unpack a release from a stream beside its place, and put it there when its hash is right."""
    arriving = Arriving(stream, size)
    partial = os.path.join(install_dir, f".{name}.partial")
    try:
        os.mkdir(partial, 0o755)
        broken = unpack(arriving, partial)
        check(arriving, name, sha512, size)
        if broken:
            raise RefusedError(f"{name} cannot be unpacked: {broken}")
        with open(os.path.join(partial, MARKER), "w") as file:
            json.dump({"sha512": sha512}, file)
        # A power cut after the renaming must not find empty files behind the marker.
        subprocess.run(["sync", "-f", partial], check=True)
        replace(partial, os.path.join(install_dir, name))
    except OSError as problem:
        raise RefusedError(words(problem, install_dir, name)) from problem
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def unpack(arriving, folder):
    """Write every file; what is wrong with the archive is told later, when its hash is known."""
    try:
        with tarfile.open(fileobj=arriving, mode="r|", bufsize=CHUNK) as tar:
            for member in tar:
                write(tar, member, folder)
        problem = ""
    except (tarfile.TarError, ValueError) as found:
        problem = str(found)
    arriving.drain()
    return problem


def write(tar, member, folder):
    """Only plain files below the folder: whatever else an archive holds is not a release."""
    if not member.isfile() or member.name.startswith("/") or ".." in member.name.split("/"):
        raise ValueError(f"it holds {member.name}")
    path = os.path.join(folder, member.name)
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    with tar.extractfile(member) as content, open(path, "wb") as file:
        shutil.copyfileobj(content, file, CHUNK)
    os.chmod(path, 0o755 if member.mode & 0o100 else 0o644)


def check(arriving, name, sha512, size):
    """Refuse what is not what was sent."""
    if arriving.left:
        raise RefusedError(
            f"{name} arrived only in part, {size - arriving.left} of {size} bytes; nothing was installed"
        )
    arrived = arriving.hash.hexdigest()
    if arrived != sha512:
        raise RefusedError(
            f"{name} arrived with a wrong SHA-512 and was refused; nothing was installed\n"
            f"expected {sha512}\nobserved {arrived}"
        )


def replace(partial, home):
    """Put a complete release in its place; one without its marker that stands there goes away."""
    if os.path.isdir(home):
        shutil.rmtree(home)
    os.rename(partial, home)


def words(problem, install_dir, name):
    """An error of the operating system as one sentence."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left in {install_dir} for {name}; nothing was installed"
    return f"{name} could not be installed in {install_dir}: {problem.strerror or problem}"


def silent(_signal, _frame):
    """Nobody sends any more."""
    raise RefusedError(f"nothing came from the control node for {SILENCE} seconds; nothing was installed")


def receive(install_dir, name, sha512, size):
    """Take in the release that follows on standard input, and say as one line of JSON how it went."""
    os.umask(0o022)
    signal.signal(signal.SIGALRM, silent)
    try:
        os.makedirs(install_dir, 0o755, exist_ok=True)
        with alone(install_dir):
            clear(install_dir)
            if installed(install_dir, name):  # another run was quicker
                Arriving(sys.stdin.buffer, size).drain()
            else:
                take_in(sys.stdin.buffer, install_dir, name, sha512, size)
            point(install_dir, name)
        answer = {"installed": True}
    except RefusedError as problem:
        answer = {"installed": False, "msg": str(problem)}
    except OSError as problem:
        answer = {"installed": False, "msg": words(problem, install_dir, name)}
    print(json.dumps(answer))
