"""Changes to topics: how they look in a plan, and how they are carried out one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import ApplyError, KclusterError, RefusedError, UnreachableError
from kcluster.model.topic import Topic
from kcluster.model.topic_change import Action, Change
from kcluster.operations.topic.names import explained
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone

TONES = {Action.CREATE: Tone.GOOD, Action.DELETE: Tone.BAD, Action.KEEP: Tone.DIM}


@dataclass(frozen=True)
class Plan(Result):
    """What would be done, in order; or what was done."""

    changes: Sequence[Change]
    wanted: Mapping[str, Topic]
    """The declared topics, for those that are created."""
    undeclared: Sequence[str] = ()
    """Topics that exist and are left alone."""
    done: bool = False

    @property
    def steps(self) -> list[Change]:
        """The lines that change something."""
        return [change for change in self.changes if change.action is not Action.KEEP]

    @property
    def deletions(self) -> list[str]:
        """The topics that lose their data."""
        return [change.topic for change in self.changes if change.action is Action.DELETE]

    def data(self) -> Any:
        """One object per line of the plan."""
        return {
            "done": self.done,
            "changes": [
                {"action": c.action, "topic": c.topic, "what": c.what, "from": c.before, "to": c.after, "note": c.note}
                for c in self.changes
            ],
            "undeclared": list(self.undeclared),
        }

    def view(self) -> Iterable[Block]:
        """The lines as a table, then what it comes to."""
        count = f"{len(self.steps)} change{'' if len(self.steps) == 1 else 's'}"
        if self.done:  # the lines were shown before the question
            yield Cell(f"{count} made", Tone.GOOD)
            return
        yield Grid(("ACTION", "TOPIC", "WHAT", "FROM", "TO", "NOTE"), [_row(change) for change in self.changes])
        if self.undeclared:
            yield Cell(f"not declared, left alone: {', '.join(self.undeclared)}", Tone.DIM)
        yield count if self.steps else Cell("nothing to do", Tone.GOOD)


def _row(change: Change) -> list[str | Cell]:
    tone = TONES.get(change.action, Tone.WARN)
    return [
        Cell(change.action, tone),
        change.topic,
        change.what,
        change.before,
        change.after,
        Cell(change.note, Tone.DIM),
    ]


def check(kafka: Kafka, plan: Plan) -> None:
    """Ask the brokers whether they would take every step, before the first one is made."""
    for change in plan.steps:
        try:
            _make(kafka, change, plan.wanted, check=True)
        except KclusterError as problem:
            raise _about(change.topic, explained(kafka, problem)) from problem


def carry_out(kafka: Kafka, plan: Plan, progress: Progress) -> Plan:
    """Make every change, and wait until the brokers know the new topics."""
    for number, change in enumerate(plan.steps, 1):
        progress(f"{number}/{len(plan.steps)} {change.words}")
        try:
            _make(kafka, change, plan.wanted)
        except KclusterError as problem:
            raise ApplyError(
                f"{change.words}: {problem.message}",
                details=f"{number - 1} of {len(plan.steps)} changes were made before",
                resolution="correct the cause and run the same command again: it does only what is missing",
            ) from problem
    created = {change.topic: 0 for change in plan.steps if change.action is Action.CREATE}
    grown = {change.topic: int(change.after) for change in plan.steps if change.action is Action.GROW}
    if fresh := created | grown:
        settle(kafka, fresh)
    if configured := [change for change in plan.steps if change.action in (Action.SET, Action.UNSET)]:
        kafka.until(lambda: _heard(kafka, configured))
    return Plan(plan.changes, plan.wanted, plan.undeclared, done=True)


def _make(kafka: Kafka, change: Change, wanted: Mapping[str, Topic], *, check: bool = False) -> None:
    match change.action:
        case Action.CREATE:
            topic = wanted[change.topic]
            topics.create(kafka, topic.name, topic.partitions, topic.replication_factor, topic.config, check=check)
        case Action.GROW:
            topics.grow(kafka, change.topic, int(change.after), check=check)
        case Action.SET:
            topics.configure(kafka, change.topic, {change.what: change.after}, check=check)
        case Action.UNSET:
            topics.configure(kafka, change.topic, {}, [change.what], check=check)
        case Action.DELETE if not check:
            topics.delete(kafka, [change.topic])
        case _:
            pass


def settle(kafka: Kafka, fresh: Mapping[str, int]) -> dict[str, TopicState]:
    """Wait until every broker knows leaders for these topics, so that the next command finds them whomever it asks.

    Each name comes with the number of partitions it must have at least.
    """
    found = kafka.until(lambda: _led(topics.topics(kafka), fresh))
    if not (found and kafka.until(lambda: all(_led(view, fresh) for view in topics.by_each_broker(kafka)) or None)):
        raise RefusedError(
            f"{', '.join(sorted(fresh))}: not every partition has got a leader yet",
            resolution="kcluster topic describe " + " ".join(sorted(fresh)),
        )
    return found


def _heard(kafka: Kafka, changes: Sequence[Change]) -> bool | None:
    """Whether every broker that answers has left the old values behind, so that the next command is told the new."""
    states = [state for state in topics.topics(kafka).values() if state.name in {change.topic for change in changes}]
    for broker in kafka.metadata().brokers:
        try:
            told = topics.with_config(kafka, states, broker=broker, within=2.0)
        except UnreachableError:
            continue
        known = {state.name: state.config or {} for state in told}
        if any(known.get(change.topic, {}).get(change.what, "") == change.before for change in changes):
            return None
    return True


def _led(states: Mapping[str, TopicState], fresh: Mapping[str, int]) -> dict[str, TopicState] | None:
    """These topics, when they are there with all their partitions, and each of those has a leader."""
    found = {name: states[name] for name in fresh if name in states}
    led = (
        len(state.partitions) >= max(1, fresh[name]) and all(part.leader is not None for part in state.partitions)
        for name, state in found.items()
    )
    return found if len(found) == len(fresh) and all(led) else None


def _about(topic: str, problem: KclusterError) -> KclusterError:
    return type(problem)(f"{topic}: {problem.message}", details=problem.details, resolution=problem.resolution)
