"""All local clusters together: their names, and the ports they own."""

from __future__ import annotations

from kcluster import paths
from kcluster.local.cluster_record import ClusterRecord


def cluster_names() -> list[str]:
    """The names of the local clusters, also of those that are stopped."""
    folder = paths.home() / "local"
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if ClusterRecord.at(entry).is_file())


def owned_ports(*, besides: str = "") -> set[int]:
    """The ports that local clusters own, whether they run or not."""
    records = (ClusterRecord.load(paths.home() / "local" / name) for name in cluster_names() if name != besides)
    return {port for record in records if record for port in record.ports.values()}
