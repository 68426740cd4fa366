"""`check --fix`: the account, directories, kernel settings and Java of hosts, with the role `host`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.journal import Journal
from kcluster.rollout.cluster_lock import locked

if TYPE_CHECKING:
    from kcluster.clients.ansible import Event, PlaybookOutcome
    from kcluster.clients.ssh import Connections
    from kcluster.facts.preflight.check_results import CheckResult
    from kcluster.model.cluster import Cluster
    from kcluster.results import Progress

PLAYBOOK = "kcluster.kafka.prepare"


def repair(
    cluster: Cluster,
    hosts: Connections,
    inventory: Path,
    answers: Iterable[CheckResult],
    progress: Progress,
    words: Sequence[str],
    *,
    become_password: str = "",
) -> PlaybookOutcome:
    """Prepare the hosts of these results, under the cluster's lock and with a journal; raises LockedError."""
    from kcluster.clients import ansible

    answers = list(answers)
    names = sorted({each.host for each in answers})
    java = any(each.id == "java-version" for each in answers)
    others = {host.name for host in cluster.hosts} - set(names)
    with locked(cluster, hosts, words, without=others), Journal.begin(cluster.name, words) as journal:
        return ansible.run_playbook(
            PLAYBOOK,
            inventory,
            on_event=lambda event: _report(event, progress, journal),
            extra={"prepare_installs_java": True} if java else {},
            limit=names,
            forks=len(names),
            become_password=become_password,
        )


def _report(event: Event, progress: Progress, journal: Journal) -> None:
    """Show a task that changed a host, and note every task in the journal."""
    from kcluster.clients.ansible import TaskStatus

    if event.status is TaskStatus.CHANGED:
        progress(f"{event.host}: {event.task}")
    if event.status not in (TaskStatus.STARTED, TaskStatus.SKIPPED):
        failed = {"message": event.message} if event.status in (TaskStatus.FAILED, TaskStatus.UNREACHABLE) else {}
        journal.note("step", phase="repair", host=event.host, what=event.task, status=event.status, **failed)
