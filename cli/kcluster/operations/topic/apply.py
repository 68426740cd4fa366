"""`topic apply`: the changes as people read them, and how they are carried out one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topic_names import explained
from kcluster.errors import ApplyError, KclusterError, UnreachableError
from kcluster.model.topic import Topic
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone, counted

TONES = {TopicAction.CREATE: Tone.GOOD, TopicAction.DELETE: Tone.BAD, TopicAction.KEEP: Tone.DIM}


@dataclass(frozen=True)
class TopicPlan(Result):
    """The changes in order, before or after they are made."""

    changes: Sequence[TopicChange]
    wanted: Mapping[str, Topic]
    """The declared topics, for those that are created."""
    undeclared: Sequence[str] = ()
    """Topics that exist, are not declared and are not changed."""
    done: bool = False

    @property
    def steps(self) -> list[TopicChange]:
        """The lines that change something."""
        return [change for change in self.changes if change.action is not TopicAction.KEEP]

    @property
    def deletions(self) -> list[str]:
        """The topics that lose their data."""
        return [change.topic for change in self.changes if change.action is TopicAction.DELETE]

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
        """The changes as a table, then their number."""
        count = counted(len(self.steps), "change")
        if self.done:  # the lines were shown before the question
            yield Cell(f"{count} made", Tone.GOOD)
            return
        yield Grid(("ACTION", "TOPIC", "WHAT", "FROM", "TO", "NOTE"), [_row(change) for change in self.changes])
        if self.undeclared:
            yield Cell(f"not declared, not changed: {', '.join(self.undeclared)}", Tone.DIM)
        yield count if self.steps else Cell("nothing to do", Tone.GOOD)


def _row(change: TopicChange) -> list[str | Cell]:
    tone = TONES.get(change.action, Tone.WARN)
    return [
        Cell(change.action, tone),
        change.topic,
        change.what,
        change.before,
        change.after,
        Cell(change.note, Tone.DIM),
    ]


def check(kafka: Kafka, plan: TopicPlan) -> None:
    """Let the brokers validate every change before the first one is made; raises what they refuse."""
    for change in plan.steps:
        try:
            _make(kafka, change, plan.wanted, check=True)
        except KclusterError as problem:
            raise _about(change.topic, explained(kafka, problem)) from problem


def carry_out(kafka: Kafka, plan: TopicPlan, progress: Progress) -> TopicPlan:
    """Make every change, and wait until all brokers know it; raises ApplyError with the number of changes made."""
    for number, change in enumerate(plan.steps, 1):
        progress(f"{number}/{len(plan.steps)} {change.words}")
        try:
            _make(kafka, change, plan.wanted)
        except KclusterError as problem:
            raise ApplyError(
                f"{change.words}: {problem.message}",
                details=f"{number - 1} of {len(plan.steps)} changes were made before",
                resolution="fix the cause and run the same command again: it makes only the missing changes",
            ) from problem
    created = {change.topic: 0 for change in plan.steps if change.action is TopicAction.CREATE}
    grown = {change.topic: int(change.after) for change in plan.steps if change.action is TopicAction.GROW}
    if fresh := created | grown:
        topics.wait_until_led(kafka, fresh)
    if configured := [change for change in plan.steps if change.action in (TopicAction.SET, TopicAction.UNSET)]:
        kafka.until(lambda: _propagated(kafka, configured))
    return TopicPlan(plan.changes, plan.wanted, plan.undeclared, done=True)


def _make(kafka: Kafka, change: TopicChange, wanted: Mapping[str, Topic], *, check: bool = False) -> None:
    match change.action:
        case TopicAction.CREATE:
            topic = wanted[change.topic]
            topics.create(kafka, topic.name, topic.partitions, topic.replication_factor, topic.config, check=check)
        case TopicAction.GROW:
            topics.grow(kafka, change.topic, int(change.after), check=check)
        case TopicAction.SET:
            topics.configure(kafka, change.topic, {change.what: change.after}, check=check)
        case TopicAction.UNSET:
            topics.configure(kafka, change.topic, {}, [change.what], check=check)
        case TopicAction.DELETE if not check:
            topics.delete(kafka, [change.topic])
        case _:
            pass


def _propagated(kafka: Kafka, changes: Sequence[TopicChange]) -> bool | None:
    """Whether every reachable broker reports the new values, so that the next command reads them; None while not."""
    states = [state for state in topics.topics(kafka).values() if state.name in {change.topic for change in changes}]
    for broker in kafka.metadata().brokers:
        try:
            reported = topics.with_config(kafka, states, broker=broker, within=2.0)
        except UnreachableError:
            continue
        known = {state.name: state.config or {} for state in reported}
        if any(known.get(change.topic, {}).get(change.what, "") == change.before for change in changes):
            return None
    return True


def _about(topic: str, problem: KclusterError) -> KclusterError:
    return type(problem)(f"{topic}: {problem.message}", details=problem.details, resolution=problem.resolution)
