"""`provision`: check hosts, plan, confirm, apply, restart what must be restarted, verify health, smoke test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.clients.ssh import Connections
from kcluster.errors import ApplyError, RefusedError, UnreachableError, UsageError
from kcluster.journal import Journal
from kcluster.model.endpoints import ports
from kcluster.model.suggestions import nearest
from kcluster.operations import verify
from kcluster.operations.check import CheckSeverity, check
from kcluster.operations.plan import answers_of_all, kafka_of, whole
from kcluster.operations.validate import describe
from kcluster.plan.agreed_plan import AgreedPlan
from kcluster.results import counted, few
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
    stop_after: int | None = None
    """How many stages of a staged change to carry out; None: all of them."""
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
        watch.phase(f"connect to {counted(len(task.part.every_host), 'host')} and take the lock of {task.cluster.name}")
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

    def run(self, confirm: Callable[[Plan], None], watch: Watch) -> ProvisionReport:
        """Check the hosts, plan, confirm, and carry the plan out, one stage after the other."""
        self._check(self.task.part)
        stage = self._next_stage()
        agreed = self.task.agreed or self._agreed(stage.plan)
        if self.task.agreed:
            agreed.refuse_moved(self._agreed(stage.plan))
        elif not stage.plan.nothing:
            stage = self._confirmed(stage, confirm, watch)
        report = stage.carry_out()
        for number in count(2):
            if not stage.plan.later or not report.holds:
                return report
            if self.task.stop_after and number > self.task.stop_after:
                left = counted(len(stage.plan.later), "stage")
                return replace(report, left=f"{left} left; run provision again to go on, or set the inventory back")
            stage = self._next_stage()
            agreed.refuse_moved(self._agreed(stage.plan), self.phases.outcome)
            report = report.then(stage.carry_out())
        raise AssertionError

    def _confirmed(self, stage: _StageRun, confirm: Callable[[Plan], None], watch: Watch) -> _StageRun:
        """The plan that the user agreed to; RefusedError when something moved while the question waited."""
        watch.pause()
        shown_at = time.monotonic()
        confirm(stage.plan)
        refuse_lost_lock(self.task.cluster.name, self.lock)
        if time.monotonic() - shown_at < _FRESH:
            return stage
        now = self._next_stage()
        self._agreed(stage.plan).refuse_moved(self._agreed(now.plan))
        return now

    def _agreed(self, plan: Plan) -> AgreedPlan:
        return AgreedPlan.of(plan, self.task.cluster)

    def _check(self, part: Cluster, *, of_stage: bool = False) -> None:
        """Preflight; an error stops the run before anything is changed, or before a stage that has other ports."""
        with self.phases.phase("check", f"check {counted(len(part.every_host), 'host')}"):
            checked = check(part, self.hosts, lambda _: None)
        for answer in checked.answers if not of_stage else ():
            if answer.severity is CheckSeverity.WARNING:
                self.phases.say(f"warning: {answer.host}: {answer.found} [{answer.id}]")
        if not checked.ok:
            raise _refused(checked, self.task.inventory, self.phases.outcome)

    def _next_stage(self) -> _StageRun:
        """What is done next, as it follows from what runs now."""
        with self.phases.phase("plan", "plan"):
            cluster, plan = whole(self.task.cluster, self.hosts, self.task.kafka, self.task.limit)
        if plan.refused:
            raise RefusedError(
                f"{plan.refused[0].what}; {self.phases.outcome}",
                details="\n".join(refusal.what for refusal in plan.refused[1:]),
                resolution=plan.refused[0].resolution,
            )
        if _ports(cluster) - _ports(self.task.cluster):
            self._check(cluster, of_stage=True)
        stage = _StageRun(self, cluster, plan)
        # Before anything is written: a broker that restarts by accident would start with what the others could not.
        refuse_unsafe(stage.gates, [cluster.find(restart.node) for restart in plan.restarts])
        for note in plan.notes if plan.nothing else ():  # else they are shown with the question
            self.phases.say(note)
        return stage


@dataclass(frozen=True)
class _StageRun:
    """One stage of a run: its cluster, and the steps that bring the hosts there."""

    run: _Provision
    cluster: Cluster
    plan: Plan

    @cached_property
    def gates(self) -> Gates:
        """The gates of the stage, with the user's options."""
        task = self.run.task
        return Gates(
            self.cluster,
            task.kafka.config,
            unsafe_partitions=task.unsafe_partitions,
            timeout=task.gate_timeout,
            hosts=self.run.hosts,
        )

    def carry_out(self) -> ProvisionReport:
        """Change the hosts, restart what must be restarted, and verify the cluster."""
        task, phases, plan = self.run.task, self.run.phases, self.plan
        if plan.title:
            phases.say(f"stage: {plan.title}")
        changed = self._apply() if plan.changes or plan.starts else []
        if plan.settings:
            with phases.phase("settings", "set dynamic config of the brokers"):
                apply_dynamic(self.cluster, plan.settings, phases.say, self.gates.config)
        restarted = self._restart() if plan.restarts else []
        kafka = kafka_of(self.cluster.brokers, task.kafka)
        verified = verify.verify(self.cluster, kafka, plan, phases, whole=not task.limit, smoke_too=task.smoke_test)
        return ProvisionReport(
            name=self.cluster.name,
            summary=describe(self.cluster),
            bootstrap=self.cluster.bootstrap,
            changed=tuple(changed),
            settings=tuple(f"{setting.node or 'all brokers'}: {setting.key}" for setting in plan.settings),
            restarted=tuple(restarted),
            topics=verified.topics,
            proof=verified.sentence,
            problems=verified.problems,
            seconds=phases.seconds,
        )

    def _apply(self) -> list[HostChange]:
        task, run = self.run.task, self.run
        # A host whose only node joins in a later stage has nothing to do in this one.
        here = [host.name for host in self.cluster.every_host]
        limit = task.limit or (here if len(here) < len(task.cluster.every_host) else ())
        changed = apply.apply(
            task.inventory,
            task.cluster,
            self.plan,
            run.hosts,
            self.gates,
            run.phases,
            limit,
            task.become_password,
        )
        run.lock.check()
        return changed

    def _restart(self) -> list[str]:
        """Roll what must restart; a line for each node."""
        reasons = {restart.node: few(restart.reasons, "; ") for restart in self.plan.restarts}
        phases, run, at_once = self.run.phases, self.run, self.run.task.at_once
        with phases.phase("restart", f"restart {counted(len(reasons), 'node')}, {at_once}"):
            try:
                report = roll(self.gates, reasons, run.hosts, phases.say, phases.note, run.lock, at_once)
            except ApplyError as problem:
                problem.details += "\nall nodes have their new files: correct them before others restart"
                raise
        return [f"{step.node} on {step.host} in {step.seconds:.1f} s: {step.reason}" for step in report.steps]


def _ports(cluster: Cluster) -> set[tuple[str, int]]:
    """Every port of a cluster with its host."""
    return {(node.host.name, port) for node in cluster.every_node for port in ports(node)}


def _refused(checked: PreflightResult, inventory: Path, outcome: str) -> RefusedError | UnreachableError:
    errors = [answer for answer in checked.answers if answer.severity is CheckSeverity.ERROR]
    kind = UnreachableError if checked.unreachable else RefusedError
    one = len(errors) == 1
    return kind(
        f"{counted(len(errors), 'check')} failed, {outcome}",
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
