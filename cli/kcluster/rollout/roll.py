"""The roll: nodes of a live cluster restart one at a time, or in safe sets, with a gate before and after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kcluster.errors import ApplyError, KclusterError, RefusedError
from kcluster.model import reason
from kcluster.model.finding import some
from kcluster.model.node import Node
from kcluster.model.reason import Reason
from kcluster.results import Progress, few
from kcluster.rollout import diagnosis, order
from kcluster.rollout.diagnosis import LockLostError, StartMark
from kcluster.rollout.gates import Gates
from kcluster.rollout.order import ONE_BY_ONE, AtOnce
from kcluster.rollout.roll_report import RollReport, Step
from kcluster.rollout.snapshot import SafeSet
from kcluster.rollout.waiting import wait

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.rollout.cluster_lock import Lock

Note = Callable[..., None]
"""The journal's `note`: `note("step", phase=..., host=..., what=..., status=..., seconds=...)`."""

STOP_WITHIN = 660.0
"""Seconds for an orderly stop; the unit allows 600 before it kills."""

_INSPECT_SECONDS = 1.0
"""Between two looks at the units of nodes that are waited for."""

_JOIN_SECONDS = 10.0
"""How long a set waits for those that only lag: left behind, each would need a turn of its own."""


@dataclass
class _Roll:
    """A roll that is going on."""

    gates: Gates
    reasons: Mapping[str, str]
    hosts: Connections
    progress: Progress
    note: Note
    lock: Lock
    at_once: AtOnce
    remaining: list[Node]
    done: list[Step] = field(default_factory=list)
    together: int = 1
    turn: list[Node] = field(default_factory=list)
    """The nodes that are being restarted."""
    missing: list[Node] = field(default_factory=list)
    """Those of them that are not back yet."""
    failed: bool = False

    @property
    def state(self) -> str:
        """What was restarted and what was not, in one line; `kcluster history` has every step."""
        back = (node.name for node in self.turn if node not in self.missing)
        done = few([*(step.node for step in self.done), *back]) or "nothing"
        how = "restarted and not back" if self.failed else "being restarted"
        missing = f"; {how}: {few(node.name for node in self.missing)}" if self.missing else ""
        return f"restarted: {done}{missing}; not touched: {few(node.name for node in self.remaining) or 'nothing'}"


def roll(
    gates: Gates,
    reasons: Mapping[str, str],
    hosts: Connections,
    progress: Progress,
    note: Note,
    lock: Lock,
    at_once: AtOnce = ONE_BY_ONE,
) -> RollReport:
    """Restart the nodes named in `reasons`, each with its reason, in turns; blocks until the last is back.

    RefusedError when a stop cannot become safe or its gate stays closed, ApplyError for the first node that does not
    come back, LockedError when another run has taken the lock.
    """
    began = time.monotonic()
    nodes = [node for node in gates.cluster.every_node if node.name in reasons]
    refuse_unsafe(gates, [[node] for node in nodes])
    run = _Roll(gates, reasons, hosts, progress, note, lock, at_once, nodes)
    try:
        while run.remaining:
            _restart(run)
    except KeyboardInterrupt:
        progress(f"interrupted; {run.state}; systemd finishes the restart that has begun; run it again to continue")
        raise
    except KclusterError as problem:
        if run.state not in problem.details:
            problem.details = "\n".join(filter(None, (problem.details, run.state)))
        raise
    return RollReport(gates.cluster.name, tuple(run.done), round(time.monotonic() - began, 2), run.together)


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
    reasons = gates.unsafe(*stops)
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


def _restart(run: _Roll) -> None:
    """One turn: gate, restart, gate."""
    began = time.monotonic()
    if not (nodes := _next_set(run)):
        return
    opened = time.monotonic()
    _begin(run, nodes)

    def not_back() -> Sequence[Reason]:
        reasons = run.gates.after_start(*nodes)
        run.missing = _named(reasons, nodes) or run.missing
        return reasons

    try:
        marks = diagnosis.command("restart", nodes, run.hosts, within=STOP_WITHIN, guard=run.lock.guard)
        wait_after_start(marks, run.hosts, run.progress, run.gates.timeout, not_back)
    except LockLostError as lost:
        run.turn, run.missing, run.remaining = [], [], [*nodes, *run.remaining]
        take_again(run.lock, lost, run.progress)
        return  # and its turn comes again: the gate is asked with the lock held
    except KclusterError as problem:
        run.failed = True
        _note(run, nodes, "failed")
        raise ApplyError(
            problem.message, details=problem.details, resolution=problem.resolution, lists=problem.lists
        ) from problem
    seconds, waited = round(time.monotonic() - opened, 2), round(opened - began, 2)
    run.turn, run.missing, run.together = [], [], max(run.together, len(nodes))
    _note(run, nodes, "ok", seconds=seconds)
    run.done += [Step(node.name, node.host.name, run.reasons[node.name], waited, seconds) for node in nodes]


def _begin(run: _Roll, nodes: list[Node]) -> None:
    """Say what is restarted now, and why."""
    place, total = len(run.done) + 1, len(run.done) + len(run.remaining)
    number = f"{place}" if len(nodes) == 1 else f"{place} to {place + len(nodes) - 1}"
    where = f"{few(node.name for node in nodes)} on {few(node.host.name for node in nodes)}"
    why = few(dict.fromkeys(run.reasons[node.name] for node in nodes), "; ")
    run.progress(f"restarting {where} ({number} of {total}): {why}")
    _note(run, nodes, "begun")
    run.turn = run.missing = nodes
    run.remaining = [node for node in run.remaining if node not in nodes]


def _next_set(run: _Roll) -> list[Node]:
    """Block until the next nodes may stop together and the lock is held; none when their order must be asked again."""
    turn = order.next_turn(run.remaining, run.gates.dead, run.gates.leader, run.at_once)
    chosen = SafeSet([turn.first], [], ())

    def ask() -> Sequence[Reason]:
        nonlocal chosen
        chosen = run.gates.safe_set(turn, run.at_once.others)
        others = (node for node in run.remaining if node.kind is turn.first.kind and node != turn.first)
        if chosen.reasons and not run.gates.dead(turn.first) and any(map(run.gates.dead, others)):
            chosen = SafeSet([], [], ())  # it goes first
        return chosen.reasons

    def lagging() -> Sequence[Reason]:
        return ask() or [Reason(f"{node.name} lags, and may stop with the others soon") for node in chosen.late]

    _wait_open(ask, run.gates, [turn.first], run.progress, run.state)
    if chosen.late:
        wait(lagging, run.progress, within=_JOIN_SECONDS, subject=f"before {turn.first.name} stops")
    run.lock.check()
    return [] if chosen.reasons else chosen.nodes


def _note(run: _Roll, nodes: Sequence[Node], status: str, **facts: float) -> None:
    for node in nodes:
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
    _wait_open(lambda: gates.before_stop(nodes), gates, nodes, progress, state)


def _wait_open(
    ask: Callable[[], Sequence[Reason]], gates: Gates, nodes: Sequence[Node], progress: Progress, state: str
) -> None:
    names = few(node.name for node in nodes)
    if reasons := wait(ask, progress, within=gates.timeout, subject=f"before {names} may stop"):
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
    """The error for nodes that neither die nor come back, with the diagnosis of the first that is not back."""
    missing = _named(reasons, [mark.node for mark in marks])
    mark = next((mark for mark in marks if mark.node in missing), marks[0])
    node = mark.node
    diagnosed = diagnosis.diagnose(mark, hosts)
    details = [*reason.details(reasons), *diagnosed.lines]
    message = f"{node.name} on {node.host.name} is not back after {timeout:.0f} s: {diagnosed.text or reasons[0]}"
    lists = reason.lists(reasons)
    return ApplyError(message, details="\n".join(details), resolution=diagnosed.resolution, lists=lists)


def _named(reasons: Sequence[Reason], nodes: Sequence[Node]) -> list[Node]:
    """The nodes that one of the reasons is about: the first of them that it names."""
    by_name = {node.name: node for node in nodes}
    about = [next((word for word in why.text.split() if word in by_name), "") for why in reasons]
    return [by_name[name] for name in dict.fromkeys(about) if name]
