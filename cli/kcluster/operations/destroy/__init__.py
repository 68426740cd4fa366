"""`destroy`: remove a cluster from its hosts; its data only with `delete_data`, and only what is surely its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.operations.destroy.remains import DestroyReport, Remains, survey_hosts

if TYPE_CHECKING:
    from kcluster.clients.ansible import Event
    from kcluster.clients.ssh import Login
    from kcluster.journal import Journal
    from kcluster.model.cluster import Cluster
    from kcluster.results import Progress

__all__ = ["DestroyReport", "Remains", "destroy", "survey_hosts"]

PLAYBOOK = "kcluster.kafka.destroy"


def destroy(
    cluster: Cluster,
    inventory: Path,
    logins: Mapping[str, Login],
    *,
    delete_data: bool,
    confirm: Callable[[Remains], None],
    progress: Progress,
    words: Sequence[str],
    become_password: str = "",
) -> Remains | DestroyReport:
    """Remove a cluster from its hosts; blocks until the playbook has ended. Where nothing is left, only the survey.

    `confirm` gets what was found before anything is removed, and raises to call it off.
    """
    # Lazily: the action plugin of the role needs only the survey.
    from kcluster.clients.ssh import Connections
    from kcluster.journal import Journal
    from kcluster.rollout.cluster_lock import locked

    with Connections(logins) as hosts:
        remains = survey_hosts(cluster, hosts, delete_data=delete_data)
        if remains.nothing:
            return remains
        confirm(remains)
        began = time.monotonic()
        with locked(cluster, hosts, words), Journal.begin(cluster.name, words) as journal:
            removed, refused = _run_playbook(remains, inventory, progress, journal, become_password)
            if refused:
                journal.failed("; ".join(refused))
    seconds = round(time.monotonic() - began, 2)
    return DestroyReport(cluster.name, removed, refused, remains.kept, remains.accounts, seconds)


def _run_playbook(
    remains: Remains, inventory: Path, progress: Progress, journal: Journal, become_password: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was removed, and the data that was refused, each with its host."""
    from kcluster.clients import ansible
    from kcluster.clients.ansible import TaskStatus

    tasks: set[str] = set()

    def on_event(event: Event) -> None:
        if event.task not in tasks:
            tasks.add(event.task)
            progress(event.task)
        if event.status is not TaskStatus.STARTED:
            paths = list(event.facts.get("removed", ()))
            journal.note("step", phase="destroy", host=event.host, what=event.task, status=event.status, removed=paths)

    outcome = ansible.run_playbook(
        PLAYBOOK,
        inventory,
        on_event=on_event,
        extra={"kafka_destroy_confirm": remains.name, "kafka_delete_data": remains.delete_data},
        become_password=become_password,
    )
    removed, refused = (
        tuple(f"{event.host}: {what}" for event in outcome.events for what in event.facts.get(key, ()))
        for key in ("removed", "refused")
    )
    return removed, refused
