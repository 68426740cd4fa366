"""The roll: nodes of a live cluster restart one at a time, with a gate before and after each, the leaders last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kcluster.errors import ApplyError, KclusterError, RefusedError
from kcluster.model import reason
from kcluster.model.finding import some
from kcluster.model.node import Node
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone, counted, few
from kcluster.rollout import diagnosis, order
from kcluster.rollout.diagnosis import LockLostError, StartMark
from kcluster.rollout.gates import Gates
from kcluster.rollout.waiting import wait

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.reason import Reason
    from kcluster.rollout.cluster_lock import Lock

Note = Callable[..., None]
"""The journal's `note`: `note("step", phase=..., host=..., what=..., status=..., seconds=...)`."""

STOP_WITHIN = 660.0
"""Seconds for an orderly stop; the unit allows 600 before it kills."""

_INSPECT_SECONDS = 1.0
"""Between two looks at the units of nodes that are waited for."""


@dataclass(frozen=True)
class Step:
    """One node that was restarted."""

    node: str
    host: str
    reason: str
    waited_seconds: float
    """Until its gate was open."""
    seconds: float
    """From the order to restart until it had caught up."""


@dataclass(frozen=True)
class RollReport(Result):
    """What was restarted, in this order."""

    name: str
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0

    def view(self) -> Iterable[Block]:
        """A row for each node, then one line with the total."""
        rows = [(step.node, step.host, f"{step.seconds:.1f} s", step.reason) for step in self.steps]
        yield Grid(("RESTARTED", "HOST", "BACK AFTER", "REASON"), rows)
        if not self.steps:
            yield f"{self.name}: no node had to be restarted"
            return
        longest = max(self.steps, key=lambda step: step.seconds)
        yield Cell(
            f"{self.name}: restarted {counted(len(self.steps), 'node')} one at a time in {self.seconds:.1f} s, "
            f"slowest {longest.node} with {longest.seconds:.1f} s",
            Tone.GOOD,
        )


@dataclass
class _Roll:
    """A roll that is going on."""

    gates: Gates
    reasons: Mapping[str, str]
    hosts: Connections
    progress: Progress
    note: Note
    lock: Lock
    remaining: list[Node]
    done: list[Step] = field(default_factory=list)
    restarting: str = ""
    not_back: str = ""
    """The node that ended the roll."""

    @property
    def state(self) -> str:
        """What was restarted and what was not, in one line; `kcluster history` has every step."""
        done = few(step.node for step in self.done) or "nothing"
        restarting = f"; being restarted: {self.restarting}" if self.restarting else ""
        restarting += f"; restarted and not back: {self.not_back}" if self.not_back else ""
        remaining = few(node.name for node in self.remaining) or "nothing"
        return f"restarted: {done}{restarting}; not touched: {remaining}"


def roll(
    gates: Gates,
    reasons: Mapping[str, str],
    hosts: Connections,
    progress: Progress,
    note: Note,
    lock: Lock,
) -> RollReport:
    """Restart the nodes named in `reasons`, each with its reason, one at a time; blocks until the last is back.

    RefusedError when a stop cannot become safe or its gate stays closed, ApplyError for the first node that does not
    come back, LockedError when another run has taken the lock.
    """
    began = time.monotonic()
    nodes = [node for node in gates.cluster.every_node if node.name in reasons]
    refuse_unsafe(gates, [[node] for node in nodes])
    run = _Roll(gates, reasons, hosts, progress, note, lock, nodes)
    try:
        while run.remaining:
            _restart(run, order.next_node(run.remaining, gates.dead, gates.leader))
    except KeyboardInterrupt:
        progress(f"interrupted; {run.state}; systemd finishes the restart that has begun; run it again to continue")
        raise
    return RollReport(gates.cluster.name, tuple(run.done), round(time.monotonic() - began, 2))


def refuse_unsafe(
    gates: Gates,
    stops: Sequence[Sequence[Node]],
    *,
    action: str = "rolling restart",
    accept: str = "--unsafe-partitions",
) -> None:
    """RefusedError when no waiting makes one of these stops safe, unless the user accepted it with the option `accept`.

    Each stop is a group of nodes that go down together; nothing is stopped here. `action` is what is refused.
    """
    gates.observe(gates.cluster.every_node)
    reasons = [why for nodes in stops for why in gates.unsafe(nodes)]
    if not reasons or gates.unsafe_partitions:
        return
    remedies = dict.fromkeys(why.remedy for why in reasons if why.remedy)
    raise RefusedError(
        f"{action} refused: {_harm(reasons)} (nothing was stopped)",
        details="\n".join(reason.details(reasons)),
        resolution="; or ".join([*remedies, f"accept the risk with {accept}"]),
        lists=reason.lists(reasons),
    )


def _harm(reasons: Sequence[Reason]) -> str:
    """What would happen without the nodes, in one line."""
    partitions = any(why.partitions for why in reasons)
    return "partitions would fall below min.insync.replicas" if partitions else str(reasons[0])


def _restart(run: _Roll, node: Node) -> None:
    """One node: gate, restart, gate."""
    began = time.monotonic()
    wait_for_turn(run.gates, [node], run.lock, run.progress, state=run.state)
    opened = time.monotonic()
    number, total = len(run.done) + 1, len(run.done) + len(run.remaining)
    run.progress(f"restarting {node.name} on {node.host.name} ({number} of {total}): {run.reasons[node.name]}")
    _note(run, node, "begun")
    run.remaining.remove(node)
    run.restarting = node.name
    try:
        marks = diagnosis.command("restart", [node], run.hosts, within=STOP_WITHIN, guard=run.lock.guard)
        wait_after_start(marks, run.hosts, run.progress, run.gates.timeout, lambda: run.gates.after_start(node))
    except LockLostError as lost:
        run.restarting = ""
        run.remaining.insert(0, node)
        take_again(run.lock, lost, run.progress)
        return  # and its turn comes again: the gate is asked with the lock held
    except KclusterError as problem:
        run.restarting, run.not_back = "", node.name
        _note(run, node, "failed")
        raise _failed(run, problem) from problem
    seconds = round(time.monotonic() - opened, 2)
    _note(run, node, "ok", seconds=seconds)
    run.restarting = ""
    run.done.append(Step(node.name, node.host.name, run.reasons[node.name], round(opened - began, 2), seconds))


def _note(run: _Roll, node: Node, status: str, **facts: float) -> None:
    run.note("step", phase="restart", host=node.host.name, what=f"restart {node.name}", status=status, **facts)


def wait_for_turn(gates: Gates, nodes: Sequence[Node], lock: Lock, progress: Progress, *, state: str) -> None:
    """Block until these nodes may stop and the lock is held, which is asked last: a gate may stay closed for long."""
    wait_before_stop(gates, nodes, progress, state=state)
    lock.check()


def take_again(lock: Lock, lost: LockLostError, progress: Progress) -> None:
    """Lock a host again that has lost the lock of this run; LockedError when another run has it."""
    progress(f"{lost.message}: taking it again")
    lock.take_again(lost.host)


def wait_before_stop(gates: Gates, nodes: Sequence[Node], progress: Progress, *, state: str) -> None:
    """Block until these nodes may stop; RefusedError with `state` in its details when the time of the gate is over."""
    names = few(node.name for node in nodes)
    subject = f"before {names} may stop"
    reasons = wait(lambda: gates.before_stop(nodes), progress, within=gates.timeout, subject=subject)
    if reasons:
        raise RefusedError(
            f"{names} may not stop: {reasons[0]} (waited {gates.timeout:.0f} s)",
            details="\n".join([*reason.details(reasons), state]),
            resolution="see what is wrong with kcluster health -i INV, then run it again",
            lists=reason.lists(reasons),
        )


def wait_after_start(
    marks: Sequence[StartMark],
    hosts: Connections,
    progress: Progress,
    timeout: float,
    ask: Callable[[], Sequence[Reason]],
) -> None:
    """Block until started nodes are back, that is until `ask` gives no reasons.

    ApplyError with a diagnosis when a process ends for good, or when the time is over.
    """
    inspected_at = time.monotonic()
    restarts: dict[str, int] = {}

    def ask_and_inspect() -> Sequence[Reason]:
        nonlocal inspected_at
        reasons = ask()
        if reasons and time.monotonic() - inspected_at >= _INSPECT_SECONDS:
            _raise_for_dead(marks, hosts, restarts)
            inspected_at = time.monotonic()
        return reasons

    names = some(mark.node.name for mark in marks)
    if reasons := wait(ask_and_inspect, progress, within=timeout, subject=f"after the start of {names}"):
        raise _timed_out(marks, hosts, reasons, timeout)


def _raise_for_dead(marks: Sequence[StartMark], hosts: Connections, restarts: dict[str, int]) -> None:
    """Raise for a process that ended, unless its cause is transient and systemd tries again.

    `restarts` keeps how often systemd had tried when the wait began: a node that was failing before is fixed since.
    """
    units = diagnosis.units([mark.node for mark in marks], hosts)
    for mark in marks:
        node, unit = mark.node, units[mark.node.name]
        tried_again = unit.restarts > restarts.setdefault(node.name, unit.restarts)
        if unit.running and not (unit.died or tried_again):
            continue
        diagnosed = diagnosis.diagnose(mark, hosts)
        if unit.running and diagnosed.cause and diagnosed.cause[0].passes:
            continue
        cause = f": {diagnosed.text}" if diagnosed.text else ""
        message = f"{node.name} on {node.host.name} does not start{cause}"
        raise ApplyError(message, details="\n".join(diagnosed.lines), resolution=diagnosed.resolution)


def _timed_out(marks: Sequence[StartMark], hosts: Connections, reasons: Sequence[Reason], timeout: float) -> ApplyError:
    """The error for nodes that neither die nor come back, with the diagnosis of the first."""
    mark, node = marks[0], marks[0].node
    diagnosed = diagnosis.diagnose(mark, hosts)
    details = [*reason.details(reasons), *diagnosed.lines]
    message = f"{node.name} on {node.host.name} is not back after {timeout:.0f} s: {diagnosed.text or reasons[0]}"
    lists = reason.lists(reasons)
    return ApplyError(message, details="\n".join(details), resolution=diagnosed.resolution, lists=lists)


def _failed(run: _Roll, problem: KclusterError) -> ApplyError:
    """The error that ends a roll: the other nodes serve on, and stay as they are."""
    return ApplyError(
        problem.message,
        details="\n".join(part for part in (problem.details, run.state) if part),
        resolution=problem.resolution,
        lists=problem.lists,
    )
