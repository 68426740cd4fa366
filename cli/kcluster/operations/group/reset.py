"""`group reset`: new committed offsets of a group without members, with a plan first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from kcluster.clients.kafka import Kafka, groups, topics
from kcluster.clients.kafka.groups import ConsumerGroup, Place
from kcluster.clients.kafka.topic_names import pick
from kcluster.errors import RefusedError, UsageError
from kcluster.operations.group.describe import find
from kcluster.operations.group.lag import ends, number
from kcluster.results import Block, Cell, Grid, Result, Tone, counted


class ResetTarget(StrEnum):
    """The kinds of --to."""

    EARLIEST = "earliest"
    LATEST = "latest"
    OFFSET = "offset"
    TIME = "time"
    SHIFT = "shift"


@dataclass(frozen=True)
class ResetPosition:
    """The parsed `--to`."""

    target: ResetTarget
    value: int = 0
    """The offset, the time in ms since 1970, or the distance."""


def reset_position(text: str) -> ResetPosition:
    """Parse `--to`: earliest, latest, 120, -50, +50 or 2026-01-31T12:00 (UTC when it has no zone)."""
    if text in (ResetTarget.EARLIEST, ResetTarget.LATEST):
        return ResetPosition(ResetTarget(text))
    if re.fullmatch(r"\d+", text):
        return ResetPosition(ResetTarget.OFFSET, int(text))
    if re.fullmatch(r"[+-]\d+", text):
        return ResetPosition(ResetTarget.SHIFT, int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as problem:
        raise UsageError(
            f"--to {text}: use earliest, latest, an offset, a shift or a time",
            resolution="for example --to -100 or --to 2026-01-31T12:00:00Z",
        ) from problem
    return ResetPosition(
        ResetTarget.TIME, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    )


@dataclass(frozen=True)
class OffsetMove:
    """The new offset of one partition."""

    topic: str
    partition: int
    before: int | None
    after: int | None
    """None: it stays as it is."""
    note: str = ""


@dataclass(frozen=True)
class Reset(Result):
    """The new offsets, before or after they are committed."""

    group: str
    moves: Sequence[OffsetMove]
    done: bool = False

    @property
    def offsets(self) -> dict[Place, int]:
        """What is to be committed: where the new offset differs."""
        return {(m.topic, m.partition): m.after for m in self.moves if m.after is not None and m.after != m.before}

    def data(self) -> Any:
        """One object per partition."""
        return {
            "group": self.group,
            "done": self.done,
            "partitions": [
                {"topic": m.topic, "partition": m.partition, "from": m.before, "to": m.after, "note": m.note}
                for m in self.moves
            ],
        }

    def view(self) -> Iterable[Block]:
        """From and to of each partition, then their number."""
        count = len(self.offsets)
        partitions = f"{counted(count, 'partition')} of {self.group}"
        if self.done:  # the lines were shown before the question
            yield Cell(f"{partitions} reset", Tone.GOOD)
            return
        yield Grid(("TOPIC", "PARTITION", "FROM", "TO", "NOTE"), [_row(move) for move in self.moves])
        yield f"{partitions} to reset" if count else Cell("nothing to do", Tone.GOOD)


def _row(move: OffsetMove) -> list[str | Cell]:
    to = "-" if move.after is None else str(move.after)
    return [move.topic, str(move.partition), number(move.before), to, Cell(move.note, Tone.DIM)]


def plan(kafka: Kafka, name: str, wanted: Sequence[str], to: str) -> Reset:
    """The offsets to commit; raises RefusedError while the group has members."""
    target = reset_position(to)
    group = require_idle(find(kafka, name))
    places = selected_partitions(topics.topics(kafka), wanted)
    starts, latest = ends(kafka, places, "earliest"), ends(kafka, places, "latest")
    times = ends(kafka, places, target.value) if target.target is ResetTarget.TIME else {}
    return Reset(group.name, moves(target, places, groups.committed(kafka, [name])[name], starts, latest, times))


def reset(kafka: Kafka, planned: Reset) -> Reset:
    """Commit the planned offsets; raises RefusedError while the group has members."""
    require_idle(find(kafka, planned.group))
    groups.commit(kafka, planned.group, planned.offsets)
    return Reset(planned.group, planned.moves, done=True)


def require_idle(group: ConsumerGroup, change: str = "reset") -> ConsumerGroup:
    """The group, when it has no members; raises RefusedError that names them and the refused change otherwise."""
    if not group.active:
        return group
    members = counted(len(group.members), "member")
    raise RefusedError(
        f"{group.name} is {group.state} with {members}: only an empty group can be {change}",
        details="\n".join(f"{member.client_id} on {member.host}" for member in group.members),
        resolution="stop these consumers, then run the command again",
    )


def selected_partitions(states: Mapping[str, topics.TopicState], wanted: Sequence[str]) -> list[Place]:
    """The partitions of TOPIC and TOPIC:0,2 arguments; raises UsageError for unknown ones."""
    places: dict[Place, None] = {}
    for word in wanted:
        name, _, listed = word.partition(":")
        have = [part.id for part in pick(states, [name])[0].partitions]
        for partition in _numbers(word, listed) if listed else have:
            if partition not in have:
                raise UsageError(f"{name} has no partition {partition}", resolution=f"use 0 to {max(have)}")
            places[name, partition] = None
    return list(places)


def _numbers(word: str, listed: str) -> list[int]:
    if not re.fullmatch(r"\d+(,\d+)*", listed):
        raise UsageError(f"--topic {word}: use TOPIC or TOPIC:0,2", resolution="for example --topic orders:0,2")
    return [int(part) for part in listed.split(",")]


def moves(
    target: ResetPosition,
    places: Iterable[Place],
    committed: Mapping[Place, int],
    starts: Mapping[Place, int],
    latest: Mapping[Place, int],
    times: Mapping[Place, int],
) -> list[OffsetMove]:
    """The new offset of each partition, kept between its first and its next record."""
    found = []
    for place in places:
        before = committed.get(place)
        if place not in starts or place not in latest:
            found.append(OffsetMove(*place, before, None, "no leader"))
            continue
        asked, note = _asked(target, before, starts[place], latest[place], times.get(place, -1))
        after = None if asked is None else min(max(asked, starts[place]), latest[place])
        if after is not None and after != asked:
            note = f"{asked} is outside the offsets {starts[place]} to {latest[place]}"
        found.append(OffsetMove(*place, before, after, note))
    return found


def _asked(target: ResetPosition, before: int | None, start: int, end: int, at_time: int) -> tuple[int | None, str]:
    match target.target:
        case ResetTarget.EARLIEST:
            return start, ""
        case ResetTarget.LATEST:
            return end, ""
        case ResetTarget.OFFSET:
            return target.value, ""
        case ResetTarget.TIME:
            return (at_time, "") if at_time >= 0 else (end, "no record at or after this time: the end")
        case ResetTarget.SHIFT if before is None:
            return None, "no committed offset to shift"
        case _:
            return (before or 0) + target.value, ""
