"""The mounts of a host: what is mounted, what should be, and on which mount a path lies."""

from __future__ import annotations

import glob
import os
import re

from ansible_collections.kcluster.kafka.plugins.module_utils.files import pairs, read

ROOT = ""
"""What stands before the paths of the system; tests put a folder here."""


def mounts() -> list[tuple[str, str]]:
    """Every mount as its mount point and its file system, in the order they were mounted."""
    halves = [line.partition(" - ") for line in (read(ROOT + "/proc/self/mountinfo") or "").splitlines()]
    return [(unescaped(left.split()[4]), right.split()[0]) for left, _, right in halves]


def mount_of(path: str) -> tuple[str, str]:
    """The mount point a path lies on, and its file system: the deepest, and of several at one point the last."""
    real = os.path.realpath(path)
    around = [each for each in mounts() if within(real, each[0])]
    return max(reversed(around), key=lambda each: len(each[0])) if around else ("/", "")


def missing_mount(path: str) -> str:
    """A mount point above the path that fstab or a unit names and that is not mounted; empty when all are."""
    path = os.path.realpath(path)
    mounted = {point for point, _ in mounts()}
    named = [point for point in promised_points() if point != "/" and within(path, point)]
    return next((point for point in sorted(named, key=len) if os.path.realpath(point) not in mounted), "")


def promised_points() -> list[str]:
    """The mount points that /etc/fstab and systemd's mount units name."""
    lines = [line.split() for line in (read(ROOT + "/etc/fstab") or "").splitlines()]
    points = [unescaped(words[1]) for words in lines if len(words) > 1 and words[1].startswith("/")]
    for unit in sorted(glob.glob(ROOT + "/etc/systemd/system/*.mount")):
        points.append(pairs(read(unit) or "").get("Where", ""))
    return [point.rstrip("/") or "/" for point in points if point]


def unescaped(point: str) -> str:
    """A mount point without the octal escapes of fstab and mountinfo."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), point)


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return (path + "/").startswith(folder.rstrip("/") + "/")
