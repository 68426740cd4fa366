"""From bare hosts to a proven cluster: validate, check, plan, ask, apply, wait, restart what must, verify, prove."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.errors import ApplyError, RefusedError, UnreachableError, UsageError
from kcluster.journal import Journal
from kcluster.model.suggestions import nearest
from kcluster.operations import verify
from kcluster.operations.check import CheckSeverity, check
from kcluster.operations.plan import seen_all, whole
from kcluster.operations.validate import describe
from kcluster.rollout import apply
from kcluster.rollout.cluster_lock import Lock, locked
from kcluster.rollout.dynamic_config import apply_dynamic
from kcluster.rollout.phases import Phases
from kcluster.rollout.provision_result import HostChange, ProvisionReport
from kcluster.rollout.roll import refuse_unsafe, roll

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster
    from kcluster.operations.check import PreflightResult
    from kcluster.plan import Plan
    from kcluster.results import Watch
    from kcluster.rollout.gates import Gates

Agree = Callable[["Plan"], None]
"""Shows the plan and asks; raises when the answer is no."""


@dataclass(frozen=True)
class Task:
    """What is to be provisioned, and how far the user lets us go."""

    inventory: Path
    cluster: Cluster
    gates: Gates
    kafka: Kafka
    words: Sequence[str]
    limit: Sequence[str] = ()
    """Only these hosts; nothing: all of them."""
    prove: bool = True
    become_password: str = field(default="", repr=False)

    @property
    def part(self) -> Cluster:
        """What of the cluster is on the hosts in question."""
        return self.cluster.on_hosts(self.limit) if self.limit else self.cluster


def provision(task: Task, hosts: Connections, agree: Agree, watch: Watch) -> ProvisionReport:
    """Bring the hosts to what the inventory says; a run that was interrupted anywhere is repaired by the next one."""
    count = len(task.part.every_host)
    watch.phase(f"enter {count} host{'' if count == 1 else 's'} and take the lock of {task.cluster.name}")
    _enter(task, hosts)
    others = {host.name for host in task.cluster.hosts} - {host.name for host in task.part.hosts}
    with (
        locked(task.cluster, hosts, task.words, without=others) as lock,
        Journal.begin(task.cluster.name, task.words) as journal,
    ):
        phases = Phases(watch, journal)
        with phases.interruptible():
            _check(task, hosts, phases)
            plan = _plan(task, hosts, phases)
            if not plan.nothing:
                watch.pause()
                agree(plan)
                _still_ours(task.cluster.name, lock)
            done = _carry_out(task, plan, hosts, lock, phases)
        if not done.holds:
            journal.said_no(done.problems[0])
        return done


def _enter(task: Task, hosts: Connections) -> None:
    """Make sure that every host lets us in, and tell all at once which do not."""
    seen_all(hosts.run("true", only=[host.name for host in task.part.every_host]))


def _check(task: Task, hosts: Connections, phases: Phases) -> None:
    """Preflight; an error stops the run before anything is changed."""
    count = len(task.part.every_host)
    with phases.phase("check", f"check {count} host{'s' if count > 1 else ''}"):
        checked = check(task.part, hosts, lambda _: None)
    for answer in checked.answers:
        if answer.severity is CheckSeverity.WARNING:
            phases.say(f"warning: {answer.host}: {answer.found} [{answer.id}]")
    if not checked.ok:
        raise _refused(checked, task.inventory)


def _refused(checked: PreflightResult, inventory: Path) -> RefusedError | UnreachableError:
    errors = [answer for answer in checked.answers if answer.severity is CheckSeverity.ERROR]
    kind = UnreachableError if checked.unreachable else RefusedError
    one = len(errors) == 1
    return kind(
        f"{'1 check says' if one else f'{len(errors)} checks say'} no, nothing was changed",
        details="\n".join(f"{answer.host}: {answer.found} [{answer.id}]" for answer in errors),
        resolution=errors[0].fix if one and errors[0].fix else f"kcluster check -i {inventory}  (says what to do)",
    )


def _plan(task: Task, hosts: Connections, phases: Phases) -> Plan:
    with phases.phase("plan", "plan"):
        plan = whole(task.cluster, hosts, task.kafka, task.limit)
    if plan.refused:
        raise RefusedError(
            f"{plan.refused[0].what}; nothing was changed",
            details="\n".join(refusal.what for refusal in plan.refused[1:]),
            resolution=plan.refused[0].resolution,
        )
    # Before anything is written: a broker that restarts by accident would start with what the others could not.
    refuse_unsafe(task.gates, [task.cluster.find(restart.node) for restart in plan.restarts])
    for note in plan.notes if plan.nothing else ():  # else they are shown with the question
        phases.say(note)
    return plan


def _still_ours(name: str, lock: Lock) -> None:
    """Refuse a plan that another run may have overtaken while the question waited: a laptop may have slept."""
    if lock.lost:
        raise RefusedError(
            f"the lock of {name} was lost before the answer came, so the plan may be an old one; nothing was changed",
            details=f"connections that broke: {', '.join(lock.lost)}",
            resolution="run it again",
        )


def _carry_out(task: Task, plan: Plan, hosts: Connections, lock: Lock, phases: Phases) -> ProvisionReport:
    changed: list[HostChange] = []
    restarted: list[str] = []
    if plan.changes or plan.starts:
        changed = apply.apply(task.inventory, plan, hosts, task.gates, phases, task.limit, task.become_password)
        lock.check()
    if plan.settings:
        with phases.phase("settings", "set what brokers take while they run"):
            apply_dynamic(task.cluster, plan.settings, phases.say, task.gates.config)
    if plan.restarts:
        restarted = _restart(task, plan, hosts, lock, phases)
    proof = verify.verify(task.cluster, task.kafka, plan, phases, whole=not task.limit, smoke_too=task.prove)
    return ProvisionReport(
        name=task.cluster.name,
        summary=describe(task.cluster),
        bootstrap=task.cluster.bootstrap,
        changed=tuple(changed),
        settings=tuple(f"{setting.node or 'all brokers'}: {setting.key}" for setting in plan.settings),
        restarted=tuple(restarted),
        topics=proof.topics,
        proof=proof.sentence,
        problems=proof.problems,
        seconds=phases.seconds,
    )


def _restart(task: Task, plan: Plan, hosts: Connections, lock: Lock, phases: Phases) -> list[str]:
    """Roll what must restart; a line for each node."""
    reasons = {restart.node: "; ".join(restart.reasons) for restart in plan.restarts}
    with phases.phase("restart", f"restart {len(plan.restarts)} nodes, one at a time"):
        try:
            report = roll(task.gates, reasons, hosts, phases.say, phases.note, check=lock.check)
        except ApplyError as problem:
            raise ApplyError(
                problem.message,
                details=f"{problem.details}\nthe files of all nodes are written: correct them before others restart",
                resolution=problem.resolution,
            ) from problem
    return [f"{step.node} on {step.host} in {step.seconds:.1f} s: {step.reason}" for step in report.steps]


def known_hosts(cluster: Cluster, names: Iterable[str]) -> tuple[str, ...]:
    """The hosts that --limit names, each as one word or several with commas between."""
    names = list(names)
    if not all(name.strip(",") for name in names):  # it would mean every host: "$HOST" was never set
        raise UsageError("--limit names no host", resolution="leave it out for every host")
    asked = [name for several in names for name in several.split(",") if name]
    hosts = [host.name for host in cluster.every_host]
    for name in asked:
        if name not in hosts:
            near = nearest(name, hosts) or hosts[:3]
            raise UsageError(
                f"--limit {name}: there is no such host in {cluster.name}", resolution=f"one of {', '.join(near)}"
            )
    return tuple(asked)
