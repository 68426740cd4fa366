"""`destroy`: a cluster leaves its hosts; its data stays unless it is asked to go, and then only what is surely ours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.operations.destroy.remains import DestroyReport, Remains, seen

if TYPE_CHECKING:
    from kcluster.clients.ansible import Event
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.results import Progress

__all__ = ["DestroyReport", "Remains", "destroy", "seen"]

PLAYBOOK = "kcluster.kafka.destroy"


def destroy(
    cluster: Cluster,
    hosts: Connections,
    remains: Remains,
    inventory: Path,
    progress: Progress,
    words: Sequence[str],
    *,
    become_password: str = "",
) -> DestroyReport:
    """Take away what was found, with Ansible; what it leaves, and why, is in the result."""
    from kcluster.clients import ansible
    from kcluster.clients.ansible import TaskStatus
    from kcluster.journal import Journal
    from kcluster.rollout.cluster_lock import locked

    began = time.monotonic()
    told: set[str] = set()
    with locked(cluster, hosts, words), Journal.begin(cluster.name, words) as journal:

        def tell(event: Event) -> None:
            if event.task not in told:
                told.add(event.task)
                progress(event.task)
            if event.status is not TaskStatus.STARTED:
                removed = list(event.facts.get("removed", ()))
                journal.note(
                    "step", phase="destroy", host=event.host, what=event.task, status=event.status, removed=removed
                )

        outcome = ansible.run_playbook(
            PLAYBOOK,
            inventory,
            on_event=tell,
            extra={"kafka_destroy_confirm": cluster.name, "kafka_delete_data": remains.delete_data},
            become_password=become_password,
        )
        removed = [f"{event.host}: {what}" for event in outcome.events for what in event.facts.get("removed", ())]
        refused = [f"{event.host}: {what}" for event in outcome.events for what in event.facts.get("refused", ())]
        if refused:
            journal.said_no("; ".join(refused))
    seconds = round(time.monotonic() - began, 2)
    return DestroyReport(cluster.name, tuple(removed), tuple(refused), remains.kept, remains.accounts, seconds)
