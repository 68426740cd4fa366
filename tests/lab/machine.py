"""The machine that carries the lab: what it must have, running its programs, waiting, locking."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from kcluster import paths
from kcluster.errors import ApplyError

SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
PACKAGES = {
    "debootstrap": "debootstrap",
    "systemd-nspawn": "systemd-container",
    "ip": "iproute2",
    "tc": "iproute2",
    "ss": "iproute2",
    "nft": "nftables",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "mkfs.ext4": "e2fsprogs",
}

WATCHES = Path("/proc/sys/fs/inotify/max_user_instances")
WATCHES_OF_A_HOST = 7
"""What a host takes of it; systemd hangs at boot when nothing is left, and 128, as usual, is soon used up."""


class LabError(ApplyError):
    """The lab cannot do what was asked."""


def folder() -> Path:
    """Where images and labs are kept: outside the clone."""
    return paths.cache() / "lab"


def labs() -> Path:
    """Where each lab has its folder."""
    return folder() / "labs"


def check(uid: int, missing: Callable[[], list[str]]) -> None:
    """Refuse a machine that cannot carry a lab, with the line that helps."""
    if uid != 0:
        raise LabError("the lab needs root: it makes namespaces, mounts and bridges", resolution="sudo ./run lab ...")
    if packages := missing():
        line = f"apt-get install --no-install-recommends {' '.join(packages)}"
        raise LabError(f"the lab needs packages that are not here: {', '.join(packages)}", resolution=line)


def missing_packages() -> list[str]:
    """The Debian packages whose programs are not here."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SBIN}"
    return sorted({package for program, package in PACKAGES.items() if not shutil.which(program, path=path)})


def make_room(hosts: int) -> None:
    """Let this machine carry so many hosts, those of other labs included; refuse when it cannot."""
    now, wanted = int(WATCHES.read_text()), max(1024, hosts * WATCHES_OF_A_HOST)
    if now >= wanted:
        return
    try:
        WATCHES.write_text(f"{wanted}\n")
    except OSError as problem:
        if now < hosts * WATCHES_OF_A_HOST:
            raise LabError(
                f"this machine has room for {now // WATCHES_OF_A_HOST} hosts, and there would be {hosts}",
                details=f"{WATCHES} is {now} and cannot be raised here: {problem.strerror}",
                resolution=f"./run lab down, or where it may be changed: echo {wanted} >{WATCHES}",
            ) from None


def run(*command: str | Path, input: str = "", surroundings: dict[str, str] | None = None) -> str:
    """Run one program to its end and give what it said; a failure carries its own last words."""
    env = surroundings or environment()
    done = subprocess.run(command, input=input, capture_output=True, text=True, env=env, close_fds=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise LabError(f"`{' '.join(words(command))}` failed with {done.returncode}", details=said)
    return done.stdout


def attempt(*command: str | Path) -> bool:
    """Run one program whose failure is an answer, not an error."""
    return subprocess.run(command, capture_output=True, env=environment(), close_fds=False).returncode == 0


def environment() -> dict[str, str]:
    """The surroundings of the machine's programs: also those only root has on its path."""
    return {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:{SBIN}", "LC_ALL": "C.UTF-8"}


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Ask again and again until the condition holds; an error names what was waited for."""
    deadline = time.monotonic() + seconds
    asked = time.monotonic()
    while not condition():
        answered = time.monotonic()
        if answered > deadline:
            raise LabError(f"{what}: not within {seconds:g} s")
        time.sleep(max(0.02, answered - asked))  # half of the time is left to what is waited for
        asked = time.monotonic()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, together with every program that `run` starts: what a killed run began is waited for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.set_inheritable(file.fileno(), True)
        yield


def changing() -> AbstractContextManager[None]:
    """Hold the lock under which labs are made, changed and taken away."""
    return locked(labs() / ".lock")


def write(path: Path, text: str) -> None:
    """Write a file beside and rename it into place, so that nobody reads half of it."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text)
    beside.rename(path)


def words(command: Sequence[str | Path]) -> list[str]:
    """A command as plain strings."""
    return [str(word) for word in command]
