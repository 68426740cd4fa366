"""Where things are: the project's folders, and what kcluster keeps on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def project() -> Path:
    """The folder that holds templates/, roles/, ...: the checkout, or `_project` in an installed wheel."""
    package = Path(__file__).parent
    packaged = package / "_project"
    return packaged if packaged.is_dir() else package.parent.parent


def cache() -> Path:
    """What can be made again: releases, read inventories. Override with KCLUSTER_CACHE."""
    return _own("KCLUSTER_CACHE", "XDG_CACHE_HOME", ".cache")


def home() -> Path:
    """What cannot be made again: local clusters and their data. Override with KCLUSTER_HOME."""
    return _own("KCLUSTER_HOME", "XDG_DATA_HOME", ".local/share")


def _own(variable: str, xdg: str, default: str) -> Path:
    if own := os.environ.get(variable):
        return Path(own).expanduser().absolute()
    base = os.environ.get(xdg)
    return (Path(base) if base else Path.home() / default) / "kcluster"
