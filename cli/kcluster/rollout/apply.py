"""Applying a plan: one run of Ansible with its events as progress, then the wait until every started node serves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.clients import ansible
from kcluster.clients.ansible import Event, TaskStatus
from kcluster.model.ensemble import Ensemble, Server
from kcluster.plan.fingerprint import AGREED, fingerprint
from kcluster.results import StepState, counted
from kcluster.rollout import diagnosis
from kcluster.rollout.phases import Phases
from kcluster.rollout.provision_result import HostChange
from kcluster.rollout.roll import wait_after_start
from kcluster.stages.hand_over import handed_over

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
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
    wanted: Cluster,
    plan: Plan,
    hosts: Connections,
    gates: Gates,
    phases: Phases,
    limit: Sequence[str] = (),
    become_password: str = "",
) -> list[HostChange]:
    """Carry out the changes and starts of a plan; what was changed. Blocks until the started nodes serve.

    The inventory describes the wanted cluster, the gates have that of this stage. ApplyError when Ansible fails on a
    host, or a node does not start.
    """
    nodes = [
        node for start in plan.starts for node in gates.cluster.find(start.node) if not _waits(gates.cluster, node)
    ]
    marks = diagnosis.marks(nodes, hosts)
    with phases.phase("apply", f"apply with Ansible: {_counts(plan)}"), handed_over(gates.cluster, wanted) as stage:
        outcome = ansible.run_playbook(
            PLAYBOOK,
            inventory,
            on_event=lambda event: report_event(event, phases),
            limit=limit,
            forks=len(gates.cluster.every_host),
            become_password=become_password,
            given={AGREED: fingerprint(wanted), **stage},
        )
    if nodes:
        with phases.phase("wait", f"wait for {counted(len(nodes), 'node')} to serve"):
            wait_after_start(marks, hosts, phases.say, gates.timeout, lambda: gates.serving(nodes))
    return [HostChange(event.host, line) for event in outcome.changed for line in _changes(event)]


def _waits(cluster: Cluster, node: Node) -> bool:
    """Whether a started node serves only after restarts: the second ZooKeeper server of a first that was alone."""
    return isinstance(cluster.metadata, Ensemble) and cluster.metadata.too_few == 1 and isinstance(node, Server)


def report_event(event: Event, phases: Phases) -> None:
    """Report one event of Ansible as a step of its host; a task that was skipped is no step."""
    if event.status is TaskStatus.SKIPPED:
        return
    failed = {"message": event.message} if _STATES[event.status] is StepState.FAILED else {}
    phases.step(event.host, event.task, _STATES[event.status], **failed)


def _counts(plan: Plan) -> str:
    return f"{counted(len(plan.changes), 'change')}, {counted(len(plan.starts), 'start')}"


def _changes(event: Event) -> list[str]:
    """What a task changed: the lines of its module, or else its name."""
    return [str(line) for line in event.facts.get("changes", ())] or [event.task]
