"""Shell completion of names from the cluster or the disk; it never raises and answers within WITHIN seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from kcluster.context import Target

NEWEST_TABLE = "4.2.0"
"""The newest version whose properties are known."""
WITHIN = 1.0
"""Seconds after which the completion is empty."""


def inventories(incomplete: str) -> list[str]:
    """The inventories below ./inventories, and the folders below a path."""
    return _words(incomplete, lambda: [*_folders("inventories/"), *(_folders(incomplete) if incomplete else ())])


def local_clusters(incomplete: str) -> list[str]:
    """Clusters on this machine."""

    def ask() -> Iterable[str]:
        from kcluster import local

        return local.cluster_names()

    return _words(incomplete, ask)


def recorded_clusters(incomplete: str) -> list[str]:
    """Clusters with recorded runs on this machine."""

    def ask() -> Iterable[str]:
        from kcluster import journal

        return journal.clusters()

    return _words(incomplete, ask)


def nodes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Hosts and nodes of the cluster that the command line names."""
    return _words(incomplete, lambda: _target(ctx).cluster.names)


def topic_properties(incomplete: str) -> list[str]:
    """Topic properties of the newest known Kafka, as KEY=."""

    def ask() -> Iterable[str]:
        from kcluster.config.property_tables import topic_table

        return [f"{name}=" for name in topic_table(NEWEST_TABLE)]

    return _words(incomplete, ask)


def topics(ctx: typer.Context, incomplete: str) -> list[str]:
    """Topics of the cluster that the command line names; internal ones only after `_`."""

    def ask() -> Iterable[str]:
        names = _target(ctx).kafka.metadata().topics
        return [name for name in names if incomplete.startswith("_") or not name.startswith("__")]

    return _words(incomplete, ask)


def groups(ctx: typer.Context, incomplete: str) -> list[str]:
    """Consumer groups of the cluster that the command line names."""

    def ask() -> Iterable[str]:
        from kcluster.clients.kafka import groups as known

        return known.names(_target(ctx).kafka)

    return _words(incomplete, ask)


def brokers(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of the brokers of the cluster that the command line names."""
    return _words(incomplete, lambda: [str(broker) for broker in _target(ctx).kafka.metadata().brokers])


def checks(incomplete: str) -> list[str]:
    """The ids of the checks that `kcluster check` knows."""

    def ask() -> Iterable[str]:
        from kcluster.facts.preflight.catalogue import EXPLANATIONS

        return EXPLANATIONS

    return _words(incomplete, ask)


def jobs(incomplete: str) -> list[str]:
    """The jobs that can be submitted."""

    def ask() -> Iterable[str]:
        from kcluster.jobs.job_file import known_jobs

        return known_jobs()

    return _words(incomplete, ask)


def submitted_jobs(incomplete: str) -> list[str]:
    """The names of jobs that were submitted on this machine."""

    def ask() -> Iterable[str]:
        from kcluster.jobs import registry as submitted

        return [job.name for job in submitted.all_jobs()]

    return _words(incomplete, ask)


def _target(ctx: typer.Context) -> Target:
    from kcluster.context import Target

    def path(word: str) -> Path | None:
        value = ctx.params.get(word)
        return Path(value).expanduser() if value else None

    given = ctx.params
    return Target(path("inventory"), given.get("name"), given.get("bootstrap"), path("client_config"))


def _folders(start: str) -> list[str]:
    """The folders whose path begins with `start`."""
    base, _, begin = start.rpartition("/")
    parent = Path(base or ("/" if start.startswith("/") else ".")).expanduser()
    found = (entry for entry in sorted(parent.iterdir()) if entry.is_dir()) if parent.is_dir() else ()
    return [
        f"{base}/{entry.name}" if "/" in start else entry.name
        for entry in found
        if entry.name.startswith(begin) and not entry.name.startswith(".")
    ]


def _words(incomplete: str, ask: Callable[[], Iterable[str]]) -> list[str]:
    """The words that begin with `incomplete`; none on an error or after WITHIN seconds."""
    from threading import Thread

    words: list[str] = []

    def work() -> None:
        try:
            words.extend(ask())
        except Exception:  # the tab key must not print a traceback
            words.clear()

    worker = Thread(target=work, daemon=True)
    worker.start()
    worker.join(WITHIN)
    return sorted({word for word in list(words) if word.startswith(incomplete)})
