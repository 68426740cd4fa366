"""Disks: a host's own layer over the image, and small ones that can be filled."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

from tests.lab.machine import LabError, attempt, run, wait_until


def mount_overlay(layers: Sequence[Path], folder: Path) -> None:
    """Mount a host's disk at `root`: the image's layers below, the host's own above."""
    folder.mkdir(exist_ok=True)
    if not folder.is_mount():
        _share(folder)
    for part in ("upper", "work", "root"):
        (folder / part).mkdir(exist_ok=True)
    lower = ":".join(map(str, layers))
    options = f"lowerdir={lower},upperdir={folder / 'upper'},workdir={folder / 'work'}"
    if not (folder / "root").is_mount():
        run("mount", "-t", "overlay", "-o", options, "lab", folder / "root")


def mounts_below(folder: Path) -> list[Path]:
    """Every mount in a folder, the innermost first."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    places = [Path(line.split()[1].encode().decode("unicode_escape")) for line in lines]
    return [place for place in reversed(places) if place.is_relative_to(folder)]


def unmount_below(folder: Path) -> None:
    """Unmount everything in a folder."""
    for place in mounts_below(folder):
        wait_until(partial(attempt, "umount", place), 10, f"{place} unmounted")


def remove(folder: Path) -> None:
    """Unmount and delete a folder; never through a mount into something else."""
    unmount_below(folder)
    if left := mounts_below(folder):
        raise LabError(f"{left[0]} is still mounted; nothing below it is deleted")
    if folder.exists():
        shutil.rmtree(folder)


def _share(folder: Path) -> None:
    """Let what is unmounted in a folder be unmounted in every mount namespace, also in those that copied it."""
    run("mount", "--bind", folder, folder)
    run("mount", "--make-shared", folder)


@dataclass(frozen=True)
class SmallDisk:
    """A file system in a file, mounted on the machine and, at `path`, in the host."""

    file: Path

    @classmethod
    def at(cls, folder: Path, path: str) -> SmallDisk:
        """The disk that a host has at a path, there or not."""
        return cls(folder / "disks" / f"{quote(path, safe='')}.img")

    @classmethod
    def all(cls, folder: Path) -> list[SmallDisk]:
        """The disks of a host, outer paths first."""
        return [cls(file) for file in sorted((folder / "disks").glob("*.img"))]

    @property
    def path(self) -> str:
        """Where the host has it."""
        return unquote(self.file.stem)

    @property
    def mount_point(self) -> Path:
        """Where the machine has it."""
        return self.file.with_suffix("")

    def create(self, megabytes: int) -> None:
        """Make it, with every block usable."""
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("xb") as file:
            file.truncate(megabytes << 20)
        run("mkfs.ext4", "-q", "-m", "0", self.file)
        self.mount()

    def mount(self) -> None:
        """Mount it on the machine."""
        self.mount_point.mkdir(exist_ok=True)
        if not self.mount_point.is_mount():
            run("mount", "-o", "loop", self.file, self.mount_point)

    def attach(self, host: int) -> None:
        """Show it to a running host; `host` is its first process."""
        device = self._device
        node = f"/dev/lab{os.minor(device)}"
        script = 'mkdir -p "$4" && mknod "$1" b "$2" "$3" && mount "$1" "$4"; code=$?; rm "$1"; exit $code'
        numbers = (str(os.major(device)), str(os.minor(device)))
        run("nsenter", "-t", str(host), "-m", "sh", "-c", script, "sh", node, *numbers, self.path)

    def fill(self) -> None:
        """Write until there is no room; only ever on a small disk, because all else is the machine's own."""
        if not self.mount_point.is_mount():
            raise LabError(
                f"no small disk at {self.path}", resolution=f"./run lab fault small_disk HOST {self.path} 32"
            )
        with (self.mount_point / "filler").open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                _write_until_full(file.fileno(), size)

    def free(self) -> None:
        """Give the room back."""
        (self.mount_point / "filler").unlink(missing_ok=True)

    def lose_unsynced(self) -> None:
        """Cut its power and mount it again, without what was not written to it; waits for those who have it open."""
        kept = self.file.with_suffix(".kept")
        written = Path(f"/sys/dev/block/{os.major(self._device)}:{os.minor(self._device)}/stat")
        before = ""
        while before != (before := written.read_text()):  # again when something was written meanwhile
            run("cp", "--sparse=always", self.file, kept)
        wait_until(partial(attempt, "umount", self.mount_point), 10, f"{self.mount_point} unmounted")
        kept.replace(self.file)
        self.mount()

    @property
    def _device(self) -> int:
        return os.stat(self.mount_point).st_dev

    def discard(self) -> None:
        """Take it away from the machine."""
        run("umount", self.mount_point)
        self.mount_point.rmdir()
        self.file.unlink()


def _write_until_full(file: int, size: int) -> None:
    try:
        while os.write(file, bytes(size)):
            pass
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    with suppress(OSError):
        os.fsync(file)
