"""All local clusters together: their names, and the ports they own."""

from __future__ import annotations

from kcluster import paths
from kcluster.local.record import Record


def names() -> list[str]:
    """The names of the local clusters, also of those that are stopped."""
    folder = paths.home() / "local"
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if Record.at(entry).is_file())


def ports(*, besides: str = "") -> set[int]:
    """The ports that local clusters own, whether they run or not."""
    records = (Record.load(paths.home() / "local" / name) for name in names() if name != besides)
    return {port for record in records if record for port in record.ports.values()}
