"""`provision`: check hosts, plan, confirm, apply, restart what must be restarted, verify health, smoke test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.clients.ssh import Connections
from kcluster.errors import ApplyError, RefusedError, UnreachableError, UsageError
from kcluster.journal import Journal
from kcluster.model.suggestions import nearest
from kcluster.operations import verify
from kcluster.operations.check import CheckSeverity, check
from kcluster.operations.plan import answers_of_all, whole
from kcluster.operations.validate import describe
from kcluster.plan.agreed_plan import AgreedPlan
from kcluster.results import counted
from kcluster.rollout import apply
from kcluster.rollout.cluster_lock import Lock, locked
from kcluster.rollout.dynamic_config import apply_dynamic
from kcluster.rollout.gates import GATE_TIMEOUT, Gates
from kcluster.rollout.order import ONE_BY_ONE, AtOnce
from kcluster.rollout.phases import Phases
from kcluster.rollout.provision_result import HostChange, ProvisionReport
from kcluster.rollout.roll import refuse_unsafe, roll

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Login
    from kcluster.model.cluster import Cluster
    from kcluster.operations.check import PreflightResult
    from kcluster.plan import Plan
    from kcluster.results import Watch


_FRESH = 2.0
"""Seconds for which a plan is as good as new; after a longer question it is made again and compared."""


@dataclass(frozen=True)
class ProvisionTask:
    """The cluster to provision, how its hosts and brokers are reached, and the user's options."""

    cluster: Cluster
    inventory: Path
    kafka: Kafka
    logins: Mapping[str, Login] = field(repr=False)
    words: Sequence[str]
    """The command as it was typed, for the lock and the journal."""
    limit: Sequence[str] = ()
    """Only these hosts; nothing: all of them."""
    gate_timeout: float = GATE_TIMEOUT
    at_once: AtOnce = ONE_BY_ONE
    unsafe_partitions: bool = False
    smoke_test: bool = True
    agreed: AgreedPlan | None = None
    """The plan that was agreed to before: exactly this is done, and nobody is asked."""
    become_password: str = field(default="", repr=False)

    @property
    def part(self) -> Cluster:
        """What of the cluster is on the hosts of the limit; without a limit all of it."""
        return self.cluster.on_hosts(self.limit) if self.limit else self.cluster


def provision(task: ProvisionTask, confirm: Callable[[Plan], None], watch: Watch) -> ProvisionReport:
    """Bring the hosts to what the inventory says, and test the cluster; a run that was interrupted can be run again.

    Blocks until the cluster is healthy and the smoke test has ended. `confirm` gets a plan that changes something,
    and raises to call it off.
    """
    task = replace(task, limit=known_hosts(task.cluster, task.limit))
    with Connections(task.logins) as hosts:
        count = counted(len(task.part.every_host), "host")
        watch.phase(f"connect to {count} and take the lock of {task.cluster.name}")
        answers_of_all(hosts.run("true", only=[host.name for host in task.part.every_host]))
        outside = {host.name for host in task.cluster.hosts} - {host.name for host in task.part.hosts}
        with (
            locked(task.cluster, hosts, task.words, without=outside) as lock,
            Journal.begin(task.cluster.name, task.words) as journal,
        ):
            phases = Phases(watch, journal)
            with phases.interruptible():
                report = _Provision(task, hosts, lock, phases).run(confirm, watch)
            if not report.holds:
                journal.failed(report.problems[0])
            return report


def refuse_lost_lock(cluster: str, lock: Lock) -> None:
    """RefusedError when the lock was lost while the question waited: another run may have made the plan an old one."""
    if lock.lost:
        raise RefusedError(
            f"the lock of {cluster} was lost before the plan was confirmed, so it may be outdated; nothing was changed",
            details=f"connections that broke: {', '.join(lock.lost)}",
            resolution="run it again",
        )


@dataclass(frozen=True)
class _Provision:
    """A run that holds the lock of its cluster."""

    task: ProvisionTask
    hosts: Connections
    lock: Lock
    phases: Phases

    @cached_property
    def gates(self) -> Gates:
        """The gates of the cluster, with the user's options."""
        return Gates(
            self.task.cluster,
            self.task.kafka.config,
            unsafe_partitions=self.task.unsafe_partitions,
            timeout=self.task.gate_timeout,
            hosts=self.hosts,
        )

    def run(self, confirm: Callable[[Plan], None], watch: Watch) -> ProvisionReport:
        """Check the hosts, plan, confirm, and carry the plan out."""
        self._check()
        plan = self._plan()
        if self.task.agreed:
            self.task.agreed.refuse_moved(self._agreed(plan))
        elif not plan.nothing:
            plan = self._confirmed(plan, confirm, watch)
        return self._carry_out(plan)

    def _confirmed(self, plan: Plan, confirm: Callable[[Plan], None], watch: Watch) -> Plan:
        """The plan that the user agreed to; RefusedError when something moved while the question waited."""
        watch.pause()
        shown_at = time.monotonic()
        confirm(plan)
        refuse_lost_lock(self.task.cluster.name, self.lock)
        if time.monotonic() - shown_at < _FRESH:
            return plan
        now = self._plan()
        self._agreed(plan).refuse_moved(self._agreed(now))
        return now

    def _agreed(self, plan: Plan) -> AgreedPlan:
        return AgreedPlan.of(plan, self.task.cluster)

    def _check(self) -> None:
        """Preflight; an error stops the run before anything is changed."""
        with self.phases.phase("check", f"check {counted(len(self.task.part.every_host), 'host')}"):
            checked = check(self.task.part, self.hosts, lambda _: None)
        for answer in checked.answers:
            if answer.severity is CheckSeverity.WARNING:
                self.phases.say(f"warning: {answer.host}: {answer.found} [{answer.id}]")
        if not checked.ok:
            raise _refused(checked, self.task.inventory)

    def _plan(self) -> Plan:
        with self.phases.phase("plan", "plan"):
            plan = whole(self.task.cluster, self.hosts, self.task.kafka, self.task.limit)
        if plan.refused:
            raise RefusedError(
                f"{plan.refused[0].what}; nothing was changed",
                details="\n".join(refusal.what for refusal in plan.refused[1:]),
                resolution=plan.refused[0].resolution,
            )
        # Before anything is written: a broker that restarts by accident would start with what the others could not.
        refuse_unsafe(self.gates, [self.task.cluster.find(restart.node) for restart in plan.restarts])
        for note in plan.notes if plan.nothing else ():  # else they are shown with the question
            self.phases.say(note)
        return plan

    def _carry_out(self, plan: Plan) -> ProvisionReport:
        task, phases = self.task, self.phases
        changed = self._apply(plan) if plan.changes or plan.starts else []
        if plan.settings:
            with phases.phase("settings", "set dynamic config of the brokers"):
                apply_dynamic(task.cluster, plan.settings, phases.say, self.gates.config)
        restarted = self._restart(plan) if plan.restarts else []
        verified = verify.verify(
            task.cluster, task.kafka, plan, phases, whole=not task.limit, smoke_too=task.smoke_test
        )
        return ProvisionReport(
            name=task.cluster.name,
            summary=describe(task.cluster),
            bootstrap=task.cluster.bootstrap,
            changed=tuple(changed),
            settings=tuple(f"{setting.node or 'all brokers'}: {setting.key}" for setting in plan.settings),
            restarted=tuple(restarted),
            topics=verified.topics,
            proof=verified.sentence,
            problems=verified.problems,
            seconds=phases.seconds,
        )

    def _apply(self, plan: Plan) -> list[HostChange]:
        task = self.task
        changed = apply.apply(
            task.inventory, plan, self.hosts, self.gates, self.phases, task.limit, task.become_password
        )
        self.lock.check()
        return changed

    def _restart(self, plan: Plan) -> list[str]:
        """Roll what must restart; a line for each node."""
        reasons = {restart.node: "; ".join(restart.reasons) for restart in plan.restarts}
        phases = self.phases
        with phases.phase("restart", f"restart {counted(len(plan.restarts), 'node')}, {self.task.at_once}"):
            try:
                report = roll(self.gates, reasons, self.hosts, phases.say, phases.note, self.lock, self.task.at_once)
            except ApplyError as problem:
                problem.details += "\nall nodes have their new files: correct them before others restart"
                raise
        return [f"{step.node} on {step.host} in {step.seconds:.1f} s: {step.reason}" for step in report.steps]


def _refused(checked: PreflightResult, inventory: Path) -> RefusedError | UnreachableError:
    errors = [answer for answer in checked.answers if answer.severity is CheckSeverity.ERROR]
    kind = UnreachableError if checked.unreachable else RefusedError
    one = len(errors) == 1
    return kind(
        f"{counted(len(errors), 'check')} failed, nothing was changed",
        details="\n".join(f"{answer.host}: {answer.found} [{answer.id}]" for answer in errors),
        resolution=errors[0].fix if one and errors[0].fix else f"kcluster check -i {inventory}  (lists the remedies)",
    )


def known_hosts(cluster: Cluster, names: Iterable[str]) -> tuple[str, ...]:
    """The hosts that --limit names, one or several with commas in each; UsageError for an empty or unknown name."""
    names = list(names)
    if not all(name.strip(",") for name in names):  # it would mean every host: "$HOST" was never set
        raise UsageError("--limit names no host", resolution="leave it out for every host")
    limit = [name for several in names for name in several.split(",") if name]
    hosts = [host.name for host in cluster.every_host]
    for name in limit:
        if name not in hosts:
            near = nearest(name, hosts) or hosts[:3]
            raise UsageError(
                f"--limit {name}: there is no such host in {cluster.name}", resolution=f"one of {', '.join(near)}"
            )
    return tuple(limit)
