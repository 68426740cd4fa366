"""`topic create`: topics that are not there yet; one that exists is refused with the difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import KclusterError, RefusedError
from kcluster.model.topic import Topic
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations.topic.apply import TopicPlan
from kcluster.operations.topic.plan import difference, summary
from kcluster.results import Block, Cell, Result, Tone, counted


@dataclass(frozen=True)
class TopicRequest:
    """The topics to create, with the same settings; None leaves a number to the brokers."""

    names: Sequence[str]
    partitions: int | None = None
    replication_factor: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    if_not_exists: bool = False
    """Whether topics that exist are left alone instead of refused."""

    @property
    def settings(self) -> str:
        """The settings in one line."""
        partitions = counted(self.partitions, "partition") if self.partitions else "the brokers' num.partitions"
        factor = self.replication_factor or "of the brokers' default.replication.factor"
        return ", ".join(
            [partitions, f"replication factor {factor}", *(f"{key}={value}" for key, value in self.config.items())]
        )


@dataclass(frozen=True)
class Created(Result):
    """The topics as they were created, and those that were there before."""

    created: Sequence[Topic]
    min_isr: Mapping[str, int | None]
    """The min.insync.replicas of each."""
    existing: Sequence[str] = ()

    def data(self) -> Any:
        """The topics that were created, and the names of the others."""
        return {"created": [asdict(topic) for topic in self.created], "existing": list(self.existing)}

    def view(self) -> Iterable[Block]:
        """Each topic in one sentence."""
        for topic in self.created:
            yield Cell(f"created {topic.name}: {summary(topic)}", Tone.GOOD)
            least = self.min_isr[topic.name]
            if least and least >= topic.replication_factor > 1:
                yield Cell(f"min.insync.replicas is {least}: with one replica offline, acks=all is refused", Tone.WARN)
        yield from (Cell(f"{name} exists already, not changed", Tone.DIM) for name in self.existing)


def plan(kafka: Kafka, request: TopicRequest) -> TopicPlan:
    """What `create` would make, validated by the brokers; raises what they refuse, and makes nothing."""
    missing = _missing(kafka, request)
    _make(kafka, request, missing, check=True)
    changes = [
        TopicChange(TopicAction.CREATE, name, after=request.settings)
        if name in missing
        else TopicChange(TopicAction.KEEP, name, note="exists already")
        for name in dict.fromkeys(request.names)
    ]
    return TopicPlan(changes, {})


def create(kafka: Kafka, request: TopicRequest) -> Created:
    """Create topics, and wait until they have leaders; raises RefusedError, of several before the first is made."""
    missing = _missing(kafka, request)
    if len(missing) > 1:
        _make(kafka, request, missing, check=True)
    _make(kafka, request, missing)
    fresh = topics.wait_until_led(kafka, dict.fromkeys(missing, request.partitions or 0)) if missing else {}
    made = topics.with_config(kafka, list(fresh.values()))
    return Created(
        [Topic(one.name, len(one.partitions), one.replication_factor, dict(request.config)) for one in made],
        {one.name: one.min_isr for one in made},
        [name for name in dict.fromkeys(request.names) if name not in missing],
    )


def _missing(kafka: Kafka, request: TopicRequest) -> list[str]:
    """The topics that are not there; raises UsageError for a wrong name, RefusedError for what exists or cannot be."""
    for name in request.names:
        topic_names.not_internal(topic_names.valid(name), "create")
    brokers, known = len(kafka.metadata().brokers), topics.topics(kafka)
    existing = [known[name] for name in request.names if name in known]
    if existing and not request.if_not_exists:
        raise _exists(kafka, existing[0], request)
    factor = request.replication_factor
    if factor and factor > brokers:
        raise RefusedError(
            f"replication factor {factor} needs {factor} brokers, the cluster has {brokers}",
            resolution=f"--replication-factor {brokers}, or start the missing brokers: kcluster broker list",
        )
    return [name for name in dict.fromkeys(request.names) if name not in known]


def _make(kafka: Kafka, request: TopicRequest, names: Iterable[str], *, check: bool = False) -> None:
    """Create these topics one after the other; `check` only asks whether the cluster would."""
    partitions, factor = request.partitions or -1, request.replication_factor or -1
    for name in names:
        try:
            topics.create(kafka, name, partitions, factor, request.config, check=check)
        except KclusterError as problem:
            raise topic_names.explained(kafka, problem) from problem


def _exists(kafka: Kafka, state: TopicState, request: TopicRequest) -> RefusedError:
    """The error for a topic that exists, with its differences to the requested one."""
    state = topics.with_config(kafka, [state])[0]
    partitions = request.partitions or len(state.partitions)
    requested = Topic(state.name, partitions, request.replication_factor or state.replication_factor, request.config)
    differences = [change for change in difference([requested], {state.name: state}).changes if change.after]
    return RefusedError(
        f"the topic {state.name} exists already" + ("" if differences else " with these settings"),
        details="\n".join(f"{c.what}: {c.before or 'not set'}, requested {c.after}" for c in differences),
        resolution=_remedy(state.name, differences),
    )


def _remedy(name: str, differences: Iterable[TopicChange]) -> str:
    """The command that changes the topic to the requested one, as far as possible."""
    grown = [f"--partitions {change.after}" for change in differences if change.action is TopicAction.GROW]
    options = grown + [f"-c {change.what}={change.after}" for change in differences if change.action is TopicAction.SET]
    return " ".join(["kcluster topic", "alter" if options else "describe", name, *options])
