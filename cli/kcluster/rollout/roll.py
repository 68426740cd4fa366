"""Restarting nodes of a live cluster one at a time: a gate before and after each, the leaders last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kcluster.errors import ApplyError, KclusterError, RefusedError
from kcluster.model.finding import some
from kcluster.model.node import Kind, Node
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone
from kcluster.rollout import diagnosis, gates
from kcluster.rollout.diagnosis import StartMark
from kcluster.rollout.gates import Gates

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.reason import Reason

Note = Callable[..., None]
"""The journal's `note`: `note("step", phase=..., host=..., what=..., status=..., seconds=...)`."""

STOP_WITHIN = 660.0
"""Seconds for an orderly stop; the unit allows 600 before it kills."""

_KINDS = tuple(Kind)
_LOOK_AGAIN = 1.0


@dataclass(frozen=True)
class Step:
    """One node that was restarted."""

    node: str
    host: str
    reason: str
    waited_seconds: float
    """Until it was safe to stop it."""
    seconds: float
    """From the order to restart until it had caught up."""


@dataclass(frozen=True)
class RollReport(Result):
    """What was restarted, in this order."""

    name: str
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0

    def view(self) -> Iterable[Block]:
        """A row for each node, then one line that says it all."""
        rows = [(step.node, step.host, f"{step.seconds:.1f} s", step.reason) for step in self.steps]
        yield Grid(("RESTARTED", "HOST", "BACK AFTER", "REASON"), rows)
        if not self.steps:
            yield f"nothing of {self.name} was to be restarted"
            return
        longest = max(self.steps, key=lambda step: step.seconds)
        yield Cell(
            f"restarted {len(self.steps)} nodes of {self.name} one at a time in {self.seconds:.1f} s, "
            f"the longest was {longest.node} with {longest.seconds:.1f} s",
            Tone.GOOD,
        )


@dataclass
class _Roll:
    """A roll while it goes on."""

    gates: Gates
    reasons: Mapping[str, str]
    hosts: Connections
    progress: Progress
    note: Note
    left: list[Node]
    done: list[Step] = field(default_factory=list)
    under_way: str = ""

    @property
    def standing(self) -> str:
        """Where it stands, in one line."""
        done = ", ".join(step.node for step in self.done) or "nothing"
        begun = f"; being restarted: {self.under_way}" if self.under_way else ""
        return f"restarted: {done}{begun}; not touched: {', '.join(node.name for node in self.left) or 'nothing'}"


def roll(
    asking: Gates,
    reasons: Mapping[str, str],
    hosts: Connections,
    progress: Progress,
    note: Note,
    *,
    check: Callable[[], None] = lambda: None,
) -> RollReport:
    """Restart the nodes named in `reasons`, each with its reason; stop at the first one that does not come back.

    `check` is asked before each step whether to go on; it raises when the cluster is no longer ours.
    """
    began = time.monotonic()
    nodes = [node for node in asking.cluster.every_node if node.name in reasons]
    refuse_unsafe(asking, [[node] for node in nodes])
    going = _Roll(asking, reasons, hosts, progress, note, nodes)
    try:
        while going.left:
            check()
            _step(going, next_of(going.left, asking))
    except KeyboardInterrupt:
        progress(f"interrupted; {going.standing}; systemd ends what it began; run it again to finish")
        raise
    return RollReport(asking.cluster.name, tuple(going.done), round(time.monotonic() - began, 2))


def refuse_unsafe(asking: Gates, together: Sequence[Sequence[Node]], *, accept: str = "--unsafe-partitions") -> None:
    """Refuse before anything is stopped what no waiting makes safe, unless the user accepts it with this word."""
    reasons = [reason for nodes in together for reason in asking.unsafe(nodes)]
    if not reasons or asking.unsafe_too:
        return
    remedies = dict.fromkeys(reason.remedy for reason in reasons if reason.remedy)
    raise RefusedError(
        "some of this cannot be made safe, nothing was stopped",
        details="\n".join(dict.fromkeys(reason.full for reason in reasons)),
        resolution="; or ".join([*remedies, f"accept the gap with {accept}"]),
    )


def next_of(left: Sequence[Node], asking: Gates) -> Node:
    """The node whose turn it is: keepers first; of one kind what does not run first, what leads last."""
    kind = next(kind for kind in _KINDS if any(node.kind is kind for node in left))
    nodes = [node for node in left if node.kind is kind]
    if len(nodes) == 1:
        return nodes[0]
    silent = [node for node in nodes if not asking.answers(node)]
    if silent:
        return silent[0]
    leader = asking.leader(kind)
    return next(node for node in nodes if node.name != leader)


def _step(going: _Roll, node: Node) -> None:
    """One node: gate, restart, gate."""
    place = f"{node.name} on {node.host.name}"
    at = time.monotonic()
    open_gate(going.gates, [node], going.progress, standing=going.standing)
    stopped = time.monotonic()
    number, total = len(going.done) + 1, len(going.done) + len(going.left)
    going.progress(f"restarting {place} ({number} of {total}): {going.reasons[node.name]}")
    going.note("step", phase="restart", host=node.host.name, what=f"restart {node.name}", status="begun")
    going.left.remove(node)
    going.under_way = node.name
    try:
        starts = diagnosis.command("restart", [node], going.hosts, within=STOP_WITHIN)
        come_back(starts, going.hosts, going.progress, going.gates.patience, lambda: going.gates.after_start(node))
    except KclusterError as problem:
        going.under_way = ""
        going.note("step", phase="restart", host=node.host.name, what=f"restart {node.name}", status="failed")
        raise _stopped(going, problem) from problem
    seconds = round(time.monotonic() - stopped, 2)
    going.note("step", phase="restart", host=node.host.name, what=f"restart {node.name}", status="ok", seconds=seconds)
    reason = going.reasons[node.name]
    going.under_way = ""
    going.done.append(Step(node.name, node.host.name, reason, round(stopped - at, 2), seconds))


def open_gate(asking: Gates, leaving: Sequence[Node], progress: Progress, *, standing: str) -> None:
    """Wait until these nodes may stop; a gate that never opens ends the run before it stops them."""
    names = ", ".join(node.name for node in leaving)
    subject = f"before {names} may stop"
    reasons = gates.wait(lambda: asking.before_stop(leaving), progress, within=asking.patience, subject=subject)
    if reasons:
        raise RefusedError(
            f"{names} may not stop: {reasons[0]} (waited {asking.patience:.0f} s)",
            details="\n".join([*(reason.full for reason in reasons), standing]),
            resolution="see what is wrong with kcluster health -i INV, then run it again",
        )


def come_back(
    starts: Sequence[StartMark],
    hosts: Connections,
    progress: Progress,
    patience: float,
    ask: Callable[[], Sequence[Reason]],
) -> None:
    """Wait until nodes that were started are back; a process that died, or time that is over, is an error."""
    looked = time.monotonic()
    counted: dict[str, int] = {}

    def ask_and_look() -> Sequence[Reason]:
        nonlocal looked
        reasons = ask()
        if reasons and time.monotonic() - looked >= _LOOK_AGAIN:
            _give_up_on_dead(starts, hosts, counted)
            looked = time.monotonic()
        return reasons

    names = some(began.node.name for began in starts)
    if reasons := gates.wait(ask_and_look, progress, within=patience, subject=f"after the start of {names}"):
        raise _too_slow(starts, hosts, reasons, patience)


def _give_up_on_dead(starts: Sequence[StartMark], hosts: Connections, counted: dict[str, int]) -> None:
    """Raise for a process that ended, unless its cause goes by itself and systemd tries again.

    `counted` keeps how often systemd had tried when the wait began: a node that was failing before was mended since.
    """
    found_units = diagnosis.units([began.node for began in starts], hosts)
    for began in starts:
        node, unit = began.node, found_units[began.node.name]
        tried_again = unit.restarts > counted.setdefault(node.name, unit.restarts)
        if unit.running and not (unit.died or tried_again):
            continue
        found = diagnosis.diagnose(began, hosts)
        if unit.running and found.cause and found.cause[0].passes:
            continue
        cause = f": {found.text}" if found.text else ""
        message = f"{node.name} on {node.host.name} does not start{cause}"
        raise ApplyError(message, details="\n".join(found.lines), resolution=found.resolution)


def _too_slow(
    starts: Sequence[StartMark], hosts: Connections, reasons: Sequence[Reason], patience: float
) -> ApplyError:
    """The error for nodes that neither die nor come back, with what the first one says."""
    began, node = starts[0], starts[0].node
    found = diagnosis.diagnose(began, hosts)
    why = [*(reason.full for reason in reasons), *found.lines]
    message = f"{node.name} on {node.host.name} is not back after {patience:.0f} s: {found.text or reasons[0]}"
    return ApplyError(message, details="\n".join(why), resolution=found.resolution)


def _stopped(going: _Roll, problem: KclusterError) -> ApplyError:
    """The end of a roll: the others still serve, and stay as they are."""
    return ApplyError(
        problem.message,
        details="\n".join(part for part in (problem.details, going.standing) if part),
        resolution=problem.resolution,
    )
