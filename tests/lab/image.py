"""The base image: one minimal Debian, made once per recipe and kept outside the clone."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab import disk
from tests.lab.machine import LabError, environment, folder, locked, run

PACKAGES = ["systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "iproute2", "sudo", "ca-certificates"]
JAVA = {
    "bullseye": "openjdk-17-jre-headless",
    "bookworm": "openjdk-17-jre-headless",
    "trixie": "openjdk-21-jre-headless",
}
TIMERS = ("apt-daily", "apt-daily-upgrade", "dpkg-db-backup", "e2scrub_all")
MASKED = [*(f"{timer}.timer" for timer in TIMERS), "console-getty.service"]
FILES = {
    "etc/machine-id": "",  # every host has its own
    "etc/resolv.conf": "",  # nothing leaves the lab
    "etc/ssh/sshd_config.d/lab.conf": "HostKey /etc/ssh/ssh_host_ed25519_key\nUseDNS no\n",
}
KEY = "id_ed25519"
BELOW = "below"
REMOVED = ("var/lib/dbus/machine-id", "etc/ssh/ssh_host_*", "var/cache/apt/archives/*.deb", "var/lib/apt/lists/*_*")


@dataclass(frozen=True)
class Recipe:
    """What an image is made of; another recipe is another image."""

    suite: str = "bookworm"
    java: bool = True

    @property
    def packages(self) -> list[str]:
        """The packages beside Debian's smallest set."""
        return [*PACKAGES, *([JAVA[self.suite]] if self.java else [])]

    @property
    def name(self) -> str:
        """The image's name: what a reader wants to know, and a hash of everything."""
        everything = repr((self.suite, self.packages, MASKED, FILES, REMOVED))
        digest = hashlib.sha256(everything.encode()).hexdigest()[:10]
        return f"{self.suite}{'' if self.java else '-nojava'}-{digest}"


@dataclass(frozen=True)
class Image:
    """An image that is there: its root, and the key that opens every host made from it.

    The disk of a host that was kept (`tests/lab/kept.py`) is an image too; below it is the one the host was made from.
    """

    folder: Path

    @property
    def layers(self) -> list[Path]:
        """Its file system, as the lower directories of an overlay; the uppermost first."""
        return [self.folder / "root", *(Image(self.folder / BELOW).layers if self.kept else [])]

    @property
    def kept(self) -> bool:
        """Whether it is the disk of one host, with that host's identity."""
        return (self.folder / BELOW).exists()

    @property
    def key(self) -> Path:
        """The lab's private key."""
        return self.folder / KEY


def base_image(recipe: Recipe = Recipe()) -> Image:
    """The image of a recipe, from the cache or made now (about a minute)."""
    place = folder() / "images" / recipe.name
    make_once(place, lambda beside: _make(recipe, beside))
    return Image(place)


def make_once(place: Path, make: Callable[[Path], None]) -> None:
    """Make a folder beside and rename it into place; of several at once one works and the others wait.

    What a killed run still does is waited for, because its programs hold the lock too; then it is thrown away.
    """
    if place.is_dir():
        return
    beside = place.with_name(f".{place.name}.making")
    with locked(place.with_name(f".{place.name}.lock")):
        if place.is_dir():
            return
        disk.remove(beside)
        beside.mkdir()
        make(beside)
        beside.rename(place)


def _make(recipe: Recipe, beside: Path) -> None:
    print(f"making the lab's image {recipe.name}; this takes about a minute", file=sys.stderr, flush=True)
    root = beside / "root"
    _debootstrap(recipe.suite, recipe.packages, root)
    run("chroot", root, "systemctl", "--quiet", "mask", *MASKED)
    for pattern in REMOVED:
        for path in root.glob(pattern):
            path.unlink()
    for name, text in FILES.items():
        (root / name).write_text(text)
    _make_key(beside, root)


def download(suite: str, packages: Sequence[str], into: Path) -> list[Path]:
    """Fetch packages and whatever they need, Debian's smallest set included, and unpack none."""
    _debootstrap(suite, packages, into, "--download-only")
    return sorted(into.glob("var/cache/apt/archives/*.deb"))


def _debootstrap(suite: str, packages: Sequence[str], root: Path, *more: str) -> None:
    surroundings = {**environment(), **proxies(), "DEBIAN_FRONTEND": "noninteractive"}
    options = ["--variant=minbase", f"--include={','.join(packages)}", *more]
    run("debootstrap", *options, suite, root, mirror(), surroundings=surroundings)


def _make_key(beside: Path, root: Path) -> None:
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "kcluster lab", "-f", beside / KEY)
    (root / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
    (root / "root/.ssh/authorized_keys").write_text((beside / f"{KEY}.pub").read_text())


def mirror() -> str:
    """The Debian archive this machine's apt uses; KCLUSTER_LAB_MIRROR names another one."""
    if own := os.environ.get("KCLUSTER_LAB_MIRROR"):
        return own
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    for address, release, component in (line.split() for line in targets.splitlines()):
        if component == "main" and release.isalpha():  # not bookworm-security, not a company's own
            return address
    advice = "set KCLUSTER_LAB_MIRROR to the address of a Debian archive"
    raise LabError("apt has no Debian archive in its sources to make hosts from", resolution=advice)


def proxies() -> dict[str, str]:
    """The proxies of this machine's apt, as the downloads of debootstrap know them."""
    said = run("apt-config", "shell", "http_proxy", "Acquire::http::Proxy", "https_proxy", "Acquire::https::Proxy")
    return dict(word.split("=", 1) for word in shlex.split(said))
