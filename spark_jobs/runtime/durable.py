"""Files that a power cut does not take back: without a sync it may keep a new name and lose the content."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write(file: Path, text: str) -> None:
    """Write a file atomically: a reader, also after a power cut, sees the old text or the new one."""
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(text)
    sync(fresh)
    fresh.replace(file)
    sync(file.parent)


def sync_changed(top: Path, since: float) -> None:
    """Sync a file, or a folder with all below it that was changed since a time, in seconds since 1970."""
    if top.is_file():
        sync(top)
    for folder, _, names in os.walk(top):
        with suppress(FileNotFoundError):  # another writer of the table took it away
            if os.stat(folder).st_mtime >= since:  # else no file was made in it; a folder below may have changed
                for name in names:
                    _sync_if_changed(os.path.join(folder, name), since)
                sync(folder)


def _sync_if_changed(file: str, since: float) -> None:
    with suppress(FileNotFoundError):
        if os.stat(file).st_mtime >= since:
            sync(file)


def sync_folders(folders: Iterable[Path]) -> None:
    """Sync the names in folders, except in those that this user may not read, and so did not make."""
    for folder in folders:
        with suppress(PermissionError):
            sync(folder)


def sync(path: str | Path) -> None:
    """Sync the content of a file, whoever wrote it, or the names in a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
