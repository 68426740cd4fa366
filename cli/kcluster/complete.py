"""Shell completion of words that only the cluster or the disk knows. It never fails and never waits long."""

from __future__ import annotations


def inventories(incomplete: str) -> list[str]:
    """Folders that look like inventories."""
    return []


def local_clusters(incomplete: str) -> list[str]:
    """Clusters on this machine."""
    return []


def topics(ctx: object, incomplete: str) -> list[str]:
    """Topics of the cluster that the command line names."""
    return []


def groups(ctx: object, incomplete: str) -> list[str]:
    """Consumer groups of the cluster that the command line names."""
    return []


def brokers(ctx: object, incomplete: str) -> list[str]:
    """Brokers of the cluster that the command line names."""
    return []
