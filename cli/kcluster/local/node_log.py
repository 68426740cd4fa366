"""The log files of a local node, and their last lines."""

from __future__ import annotations

import os
from pathlib import Path

from kcluster.config import log_files
from kcluster.model.node import Node

_BLOCK = 1 << 16


def main_log(node: Node) -> Path:
    """The main log file of the node."""
    return Path(node.places.log_dir, log_files.of(node.kind).files[0].file)


def console(node: Node) -> Path:
    """The file with stdout and stderr of the JVM."""
    return Path(node.places.log_dir, "console.log")


def tail(path: Path, lines: int, *, since: int = 0, until: int | None = None) -> list[str]:
    """The last lines of a file between two offsets; empty when there is no file."""
    try:
        with path.open("rb") as file:
            position = file.seek(0, os.SEEK_END) if until is None else until
            found = b""
            while position > since and found.count(b"\n") <= lines:
                step = min(_BLOCK, position - since)
                position = file.seek(position - step)
                found = file.read(step) + found
    except FileNotFoundError:
        return []
    return found.decode(errors="replace").splitlines()[-lines:] if lines else []


def size(path: Path) -> int:
    """The size of a file; 0 when there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
