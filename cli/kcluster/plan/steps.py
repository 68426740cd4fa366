"""The steps of a plan, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from kcluster.errors import ExitCode
from kcluster.model import topic_change
from kcluster.results import Block, Cell, Result, Tone, counted, few

_BACK = "each stage is verified before the next; --stop-after N ends after one; set the inventory back to walk back"


class Action(StrEnum):
    """What is done to a thing on a host."""

    CREATE = "create"
    CHANGE = "change"
    PUSH = "push"
    FORMAT = "format"
    ENABLE = "enable"


@dataclass(frozen=True)
class Change:
    """One thing on a host that will change."""

    host: str
    action: Action
    what: str
    """"account kafka", "release kafka_2.13-3.9.2", "directory /etc/kafka", or the path of a file."""
    node: str = ""
    """Empty when it belongs to the whole host."""
    note: str = ""
    diff: str = ""
    """Of a changed file; secrets are `********`."""


@dataclass(frozen=True)
class Start:
    """A unit that does not run and will be started."""

    node: str
    host: str
    unit: str


@dataclass(frozen=True)
class Restart:
    """A running unit whose process was started with another configuration or release than the inventory's."""

    node: str
    host: str
    unit: str
    reasons: tuple[str, ...]
    last: str = ""
    """Why it comes after the others of its kind: "ZooKeeper leader"."""


@dataclass(frozen=True)
class Dynamic:
    """A change of dynamic config, without a restart."""

    node: str
    """The broker; empty for the default of the whole cluster."""
    key: str
    before: str
    """The value in effect now; empty where it is unknown."""
    after: str | None
    """None: the dynamic config is deleted, so that the file is in effect again."""


@dataclass(frozen=True)
class Refusal:
    """Why the plan must not be carried out, and the remedy."""

    what: str
    resolution: str


@dataclass(frozen=True)
class Plan(Result):
    """The steps that bring hosts and topics to what the inventory says."""

    cluster: str
    changes: tuple[Change, ...] = ()
    """Host by host."""
    starts: tuple[Start, ...] = ()
    """The metadata quorum first."""
    restarts: tuple[Restart, ...] = ()
    """In the safe order: one at a time, from the first to the last."""
    settings: tuple[Dynamic, ...] = ()
    topics: tuple[topic_change.TopicChange, ...] | None = ()
    """The changes to the declared topics, in order; None where they could not be compared."""
    refused: tuple[Refusal, ...] = ()
    fresh: bool = False
    """Nothing runs and no node has data: everything may start at the same time."""
    notes: tuple[str, ...] = ()
    """What the plan does not change, and what is unknown."""
    title: str = ""
    """What this stage of a staged change does; empty when one pass does everything."""
    later: tuple[Plan, ...] = ()
    """The stages after this one, as they follow from it."""
    exit_code_tells: bool = False
    """Whether the exit code tells if something would change."""

    @property
    def nothing(self) -> bool:
        """Whether every host, and every topic that could be compared, is as the inventory says."""
        steps = self.changes or self.starts or self.restarts or self.settings or self.topics
        return not (steps or self.refused or self.later)

    @property
    def exit_code(self) -> ExitCode:
        """A plan is information, whatever it holds; NO when it must not be carried out."""
        changes = ExitCode.CHANGES if self.exit_code_tells and not self.nothing else ExitCode.DONE
        return ExitCode.NO if self.refused else changes

    def data(self) -> Any:
        """The fields, and whether there is nothing to do."""
        fields = asdict(replace(self, later=()))
        del fields["exit_code_tells"]
        return {"nothing": self.nothing, **fields, "later": [stage.data() for stage in self.later]}

    def view(self) -> Iterable[Block]:
        """The steps of each stage, and one line that counts."""
        yield from (Cell(note, Tone.WARN) for note in self.notes)
        if self.nothing:
            yield Cell(f"{self.cluster}: nothing to do: every host is as the inventory says", Tone.GOOD)
            return
        stages = (self, *self.later)
        for number, stage in enumerate(stages, 1):
            if len(stages) > 1:
                yield f"stage {number} of {len(stages)}: {stage.title or 'the rest'}"
            yield from stage.steps()
        if self.later:
            yield Cell(_BACK, Tone.DIM)
        for refusal in self.refused:
            yield Cell(f"refused: {refusal.what}", Tone.BAD)
            yield f"  try: {refusal.resolution}"
        yield Cell(f"{self.cluster}: {self._counts()}", Tone.BAD if self.refused else Tone.PLAIN)

    def steps(self) -> Iterator[Block]:
        """What changes on each host, then the restarts in their order, and the topics."""
        for blocks, hosts in _by_blocks(self.changes).items():
            yield Cell(", ".join(hosts), Tone.DIM)
            yield from blocks
        yield from self._movements()
        yield from self._topics()

    def _movements(self) -> Iterator[Block]:
        """Starts, settings and restarts: what happens to the processes."""
        if self.starts:
            nodes = ", ".join(start.node for start in self.starts)
            yield Cell(f"start{', all at the same time' if self.fresh else ''}: {nodes}", Tone.GOOD)
        if self.settings:
            yield Cell("dynamic config, no restart:", Tone.WARN)
        for (key, before, after), where in _by_setting(self.settings).items():
            yield f"  {arrow(key, before, after)} on {', '.join(node or 'the whole cluster' for node in where)}"
        if self.restarts:
            yield Cell("rolling restart, in this order:", Tone.WARN)
        for number, restart in enumerate(self.restarts, 1):
            last = f" (last, {restart.last})" if restart.last else ""
            yield f"  {number}. {restart.node} on {restart.host}{last}: {few(restart.reasons, '; ')}"

    def _topics(self) -> Iterator[Block]:
        """What happens to the declared topics, once the cluster is healthy."""
        if self.topics is None:
            yield Cell("topics: missing ones will be created, existing ones stay as they are", Tone.WARN)
        elif self.topics:
            yield Cell("topics:", Tone.WARN)
            yield from map(_of_topic, self.topics)

    def _counts(self) -> str:
        stages = (self, *self.later)
        numbers = (
            (len(self.later) and len(stages), "stage"),
            (sum(len(stage.changes) for stage in stages), "change"),
            (sum(len(stage.starts) for stage in stages), "start"),
            (sum(len(stage.settings) for stage in stages), "setting"),
            (sum(len(stage.restarts) for stage in stages), "restart"),
            (sum(len(stage.topics or ()) for stage in stages), "topic change"),
            (len(self.refused), "refusal"),
        )
        return ", ".join(counted(number, noun) for number, noun in numbers if number)


def arrow(key: str, before: str, after: str | None) -> str:
    """A change of one setting: "num.io.threads 8 -> 12"."""
    if after is None:
        return f"{key} {before} -> (as in the file)"
    return f"{key} {before} -> {after}" if before else f"{key} set to {after}"


def _of_topic(change: topic_change.TopicChange) -> Cell:
    if change.action is topic_change.TopicAction.CREATE:
        return Cell(f"  + {change.action} {change.topic}: {change.after}", Tone.GOOD)
    values = " -> ".join(value for value in (change.before, change.after) if value)
    note = f" ({change.note})" if change.note else ""
    return Cell(f"  ~ {change.action} {change.topic}: {change.what} {values}{note}", Tone.WARN)


_SIGNS = {Action.CREATE: ("+", Tone.GOOD), Action.PUSH: ("+", Tone.GOOD), Action.FORMAT: ("+", Tone.GOOD)}


def _shown(change: Change) -> Iterator[Block]:
    sign, tone = _SIGNS.get(change.action, ("~", Tone.WARN))
    word = "" if change.action in (Action.CREATE, Action.CHANGE) else f"{change.action} "
    yield Cell(f"  {sign} {word}{change.what}{f' ({change.note})' if change.note else ''}", tone)
    for line in change.diff.splitlines():
        yield Cell(f"      {line}", {"+": Tone.GOOD, "-": Tone.BAD}.get(line[:1], Tone.DIM))


def _by_blocks(changes: Iterable[Change]) -> Mapping[tuple[Block, ...], list[str]]:
    """What is shown, and the hosts on which it is the same: most hosts of a large cluster are alike."""
    shown: dict[str, list[Block]] = {}
    for change in changes:
        shown.setdefault(change.host, []).extend(_shown(change))
    found: dict[tuple[Block, ...], list[str]] = {}
    for host, blocks in shown.items():
        found.setdefault(tuple(blocks), []).append(host)
    return found


def _by_setting(settings: Iterable[Dynamic]) -> Mapping[tuple[str, str, str | None], list[str]]:
    found: dict[tuple[str, str, str | None], list[str]] = {}
    for setting in settings:
        found.setdefault((setting.key, setting.before, setting.after), []).append(setting.node)
    return found
