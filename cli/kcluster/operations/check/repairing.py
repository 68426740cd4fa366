"""Repairs what is safe to repair: the account, directories, kernel settings and Java, with the role `host`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kcluster.clients.ansible import Event, Outcome
    from kcluster.operations.check.answers import Answer
    from kcluster.results import Progress

PLAYBOOK = "kcluster.kafka.prepare"


def repair(inventory: Path, answers: Iterable[Answer], progress: Progress, *, become_password: str = "") -> Outcome:
    """Prepare the hosts that need it; raises what went wrong there."""
    from kcluster.clients import ansible

    def tell(event: Event) -> None:
        if event.status is ansible.Status.CHANGED:
            progress(f"{event.host}: {event.task}")

    answers = list(answers)
    hosts = sorted({each.host for each in answers})
    java = any(each.id == "java-version" for each in answers)
    return ansible.play(
        PLAYBOOK,
        inventory,
        on_event=tell,
        extra={"prepare_installs_java": True} if java else {},
        limit=hosts,
        forks=len(hosts),
        become_password=become_password,
    )
