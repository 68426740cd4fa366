"""Applying a plan: one run of Ansible, told event by event, and then the wait until everything serves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.clients import ansible
from kcluster.clients.ansible import Event, Status
from kcluster.operations import diagnosing
from kcluster.operations.provision.phases import Phases
from kcluster.operations.provision.result import Changed
from kcluster.operations.roll import come_back
from kcluster.results import StepState

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.operations.gates import Gates
    from kcluster.plan import Plan

PLAYBOOK = "kcluster.kafka.provision"

_STATES = {
    Status.STARTED: StepState.STARTED,
    Status.OK: StepState.OK,
    Status.CHANGED: StepState.CHANGED,
    Status.FAILED: StepState.FAILED,
    Status.UNREACHABLE: StepState.FAILED,
}


def apply(
    inventory: Path,
    plan: Plan,
    hosts: Connections,
    gates: Gates,
    phases: Phases,
    limit: Sequence[str] = (),
    become_password: str = "",
) -> list[Changed]:
    """Write and start what the plan says; what was changed."""
    nodes = [node for start in plan.starts for node in gates.cluster.find(start.node)]
    begun = diagnosing.marks(nodes, hosts)
    with phases.phase("apply", f"apply with Ansible: {len(plan.changes)} changes, {len(plan.starts)} starts"):
        outcome = ansible.play(
            PLAYBOOK,
            inventory,
            on_event=lambda event: tell(event, phases),
            limit=limit,
            forks=len(gates.cluster.every_host),
            become_password=become_password,
        )
    if nodes:
        with phases.phase("wait", f"wait until {len(nodes)} nodes serve"):
            come_back(begun, hosts, phases.say, gates.patience, lambda: gates.serving(nodes))
    return [Changed(event.host, line) for event in outcome.changed for line in _changes(event)]


def tell(event: Event, phases: Phases) -> None:
    """One event of Ansible, as a step of its host."""
    if event.status is Status.SKIPPED:  # it was not for this host
        return
    failed = {"message": event.message} if _STATES[event.status] is StepState.FAILED else {}
    phases.step(event.host, event.task, _STATES[event.status], **failed)


def _changes(event: Event) -> list[str]:
    """What a task changed: its module says it line by line, else its name stands for it."""
    return [str(line) for line in event.facts.get("changes", ())] or [event.task]
