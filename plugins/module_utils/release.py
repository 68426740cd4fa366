# Apache License 2.0 (see LICENSE)
"""The releases of a host: which are installed, installing one from a stream, and the link `current`.

The module imports it; the action plugin also sends it ahead of a release and lets `receive` read the rest.
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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError
from ansible_collections.kcluster.kafka.plugins.module_utils.files import listed

MARKER = ".complete"
"""Written last: a release without it is not there. It holds the SHA-512 the release arrived with."""

CURRENT = "current"
"""The link to the release that was installed last; each unit has its own, of what it starts."""

CHUNK = 1 << 16  # tarfile copies what it has read ahead: larger is slower

SILENCE = 60
"""Seconds without a byte after which the sender is taken for gone: a pulled cable ends no connection by itself."""


def installed(install_dir: str, name: str) -> str:
    """The SHA-512 of a release that is complete; nothing when it is not."""
    try:
        with open(os.path.join(install_dir, name, MARKER)) as file:
            return str(json.load(file).get("sha512", "unknown"))
    except (OSError, ValueError, AttributeError):
        return ""


def pointed(link: str) -> str:
    """The name of the release that a link points to, such as `current`."""
    if os.path.islink(link):
        return os.path.basename(os.readlink(link).rstrip("/"))
    if os.path.exists(link):
        raise HostRefusedError(f"{link} is not a link, so it is not ours to change; move it away")
    return ""


def point(link: str, name: str) -> None:
    """Let a link point to a release, from one moment to the next; what runs keeps what it was started with."""
    fresh = os.path.join(os.path.dirname(link), f".{os.path.basename(link)}.new")
    if os.path.islink(fresh):
        os.unlink(fresh)
    os.symlink(name, fresh)
    os.replace(fresh, link)


def leftovers(install_dir: str) -> list[str]:
    """What interrupted runs left behind."""
    return [name for name in listed(install_dir) if name.startswith(".") and name.endswith(".partial")]


def free_bytes(path: str) -> int:
    """What the file system of a path that may not be there yet can still take."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    space = os.statvfs(path)
    return space.f_bavail * space.f_frsize


@contextmanager
def locked(install_dir: str) -> Iterator[None]:
    """One run at a time per host; the operating system lets go of the lock when a run dies."""
    handle = os.open(install_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def clear(install_dir: str) -> None:
    """Remove what interrupted runs left behind."""
    for name in leftovers(install_dir):
        shutil.rmtree(os.path.join(install_dir, name))


class IncomingStream:
    """A stream that is counted and hashed while it is read."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self.stream = stream
        self.left = size
        self.hash = hashlib.sha512()

    def read(self, size: int = CHUNK) -> bytes:
        """The next bytes; nothing at the end."""
        signal.alarm(SILENCE)
        data = self.stream.read(min(size, self.left))
        signal.alarm(0)
        self.left -= len(data)
        self.hash.update(data)
        return data

    def drain(self) -> None:
        """Read to the end, so that the hash is that of everything."""
        while self.read():
            pass


def install(stream: IO[bytes], install_dir: str, name: str, sha512: str, size: int) -> None:
    """Unpack a release from a stream beside its place, and put it there when its hash is right."""
    arriving = IncomingStream(stream, size)
    partial = os.path.join(install_dir, f".{name}.partial")
    try:
        os.mkdir(partial, 0o755)
        broken = unpack(arriving, partial)
        check(arriving, name, sha512, size)
        if broken:
            raise HostRefusedError(f"{name} cannot be unpacked: {broken}")
        with open(os.path.join(partial, MARKER), "w") as file:
            json.dump({"sha512": sha512}, file)
        # A power cut after the renaming must not find empty files behind the marker.
        subprocess.run(["sync", "-f", partial], check=True)
        replace(partial, os.path.join(install_dir, name))
    except OSError as problem:
        raise HostRefusedError(os_error(problem, install_dir, name)) from problem
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def unpack(arriving: IncomingStream, folder: str) -> str:
    """Write every file; return what is wrong with the archive, which is raised when its hash is known."""
    stream: Any = arriving  # tarfile only reads it
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=CHUNK) as tar:
            for member in tar:
                write(tar, member, folder)
        problem = ""
    except (tarfile.TarError, ValueError) as found:
        problem = str(found)
    arriving.drain()
    return problem


def write(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: str) -> None:
    """Only plain files below the folder: whatever else an archive holds is not a release."""
    if not member.isfile() or member.name.startswith("/") or ".." in member.name.split("/"):
        raise ValueError(f"it holds {member.name}")
    path = os.path.join(folder, member.name)
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    content = tar.extractfile(member)
    assert content  # it is a plain file
    with content, open(path, "wb") as file:
        shutil.copyfileobj(content, file, CHUNK)
        os.fchmod(file.fileno(), 0o755 if member.mode & 0o100 else 0o644)


def check(arriving: IncomingStream, name: str, sha512: str, size: int) -> None:
    """Refuse what is not what was sent."""
    if arriving.left:
        raise HostRefusedError(
            f"{name} arrived only in part, {size - arriving.left} of {size} bytes; nothing was installed"
        )
    arrived = arriving.hash.hexdigest()
    if arrived != sha512:
        raise HostRefusedError(
            f"{name} arrived with a wrong SHA-512 and was refused; nothing was installed\n"
            f"expected {sha512}\nobserved {arrived}"
        )


def replace(partial: str, home: str) -> None:
    """Put a complete release in its place; one without its marker that stands there goes away."""
    if os.path.isdir(home):
        shutil.rmtree(home)
    os.rename(partial, home)


def os_error(problem: OSError, install_dir: str, name: str) -> str:
    """An error of the operating system as one sentence."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left in {install_dir} for {name}; nothing was installed"
    return f"{name} could not be installed in {install_dir}: {problem.strerror or problem}"


def silent(_signal: int, _frame: Any) -> None:
    """Give up a sender that sends nothing any more."""
    raise HostRefusedError(f"nothing came from the control node for {SILENCE} seconds; nothing was installed")


def receive(question: dict[str, Any]) -> None:
    """Install the release that follows on standard input, and print one line of JSON: `installed`, else a `msg`."""
    install_dir, name, size = question["install_dir"], question["name"], question["size"]
    os.umask(0o022)
    signal.signal(signal.SIGALRM, silent)
    try:
        os.makedirs(install_dir, 0o755, exist_ok=True)
        with locked(install_dir):
            clear(install_dir)
            if installed(install_dir, name):  # another run was quicker
                IncomingStream(sys.stdin.buffer, size).drain()
            else:
                install(sys.stdin.buffer, install_dir, name, question["sha512"], size)
            point(os.path.join(install_dir, CURRENT), name)
        answer: dict[str, Any] = {"installed": True}
    except HostRefusedError as problem:
        answer = {"installed": False, "msg": str(problem)}
    except OSError as problem:
        answer = {"installed": False, "msg": os_error(problem, install_dir, name)}
    print(json.dumps(answer))
