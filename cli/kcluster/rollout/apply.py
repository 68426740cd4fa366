"""Applying a plan: one run of Ansible, told event by event, and then the wait until everything serves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.clients import ansible
from kcluster.clients.ansible import Event, TaskStatus
from kcluster.results import StepState
from kcluster.rollout import diagnosis
from kcluster.rollout.phases import Phases
from kcluster.rollout.provision_result import HostChange
from kcluster.rollout.roll import wait_after_start

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.plan import Plan
    from kcluster.rollout.gates import Gates

PLAYBOOK = "kcluster.kafka.provision"

_STATES = {
    TaskStatus.STARTED: StepState.STARTED,
    TaskStatus.OK: StepState.OK,
    TaskStatus.CHANGED: StepState.CHANGED,
    TaskStatus.FAILED: StepState.FAILED,
    TaskStatus.UNREACHABLE: StepState.FAILED,
}


def apply(
    inventory: Path,
    plan: Plan,
    hosts: Connections,
    gates: Gates,
    phases: Phases,
    limit: Sequence[str] = (),
    become_password: str = "",
) -> list[HostChange]:
    """Write and start what the plan says; what was changed."""
    nodes = [node for start in plan.starts for node in gates.cluster.find(start.node)]
    begun = diagnosis.marks(nodes, hosts)
    with phases.phase("apply", f"apply with Ansible: {len(plan.changes)} changes, {len(plan.starts)} starts"):
        outcome = ansible.run_playbook(
            PLAYBOOK,
            inventory,
            on_event=lambda event: report_event(event, phases),
            limit=limit,
            forks=len(gates.cluster.every_host),
            become_password=become_password,
        )
    if nodes:
        with phases.phase("wait", f"wait until {len(nodes)} nodes serve"):
            wait_after_start(begun, hosts, phases.say, gates.timeout, lambda: gates.serving(nodes))
    return [HostChange(event.host, line) for event in outcome.changed for line in _changes(event)]


def report_event(event: Event, phases: Phases) -> None:
    """One event of Ansible, as a step of its host."""
    if event.status is TaskStatus.SKIPPED:  # it was not for this host
        return
    failed = {"message": event.message} if _STATES[event.status] is StepState.FAILED else {}
    phases.step(event.host, event.task, _STATES[event.status], **failed)


def _changes(event: Event) -> list[str]:
    """What a task changed: its module says it line by line, else its name stands for it."""
    return [str(line) for line in event.facts.get("changes", ())] or [event.task]
