"""`topic create`: one topic; one that exists is refused with the difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import KclusterError, RefusedError
from kcluster.model.topic import Topic
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations.topic.plan import difference, summary
from kcluster.results import Block, Cell, Result, Tone


@dataclass(frozen=True)
class Created(Result):
    """The topic as it was created."""

    topic: Topic
    min_isr: int | None = None

    def data(self) -> Any:
        """The topic."""
        return asdict(self.topic)

    def view(self) -> Iterable[Block]:
        """The topic in one sentence."""
        yield Cell(f"created {self.topic.name}: {summary(self.topic)}", Tone.GOOD)
        if self.min_isr and self.min_isr >= self.topic.replication_factor > 1:
            yield Cell(
                f"min.insync.replicas is {self.min_isr}: with one replica offline, acks=all is refused", Tone.WARN
            )


def create(
    kafka: Kafka,
    name: str,
    partitions: int | None = None,
    replication_factor: int | None = None,
    config: Mapping[str, str] | None = None,
) -> Created:
    """Create a topic, by default with the brokers' numbers, and wait until it has leaders; raises RefusedError."""
    topic_names.not_internal(topic_names.valid(name), "create")
    brokers, known = len(kafka.metadata().brokers), topics.topics(kafka)
    if name in known:
        raise _exists(kafka, known[name], partitions, replication_factor, config or {})
    if replication_factor and replication_factor > brokers:
        raise RefusedError(
            f"replication factor {replication_factor} needs {replication_factor} brokers, the cluster has {brokers}",
            resolution=f"--replication-factor {brokers}, or start the missing brokers: kcluster broker list",
        )
    try:
        topics.create(kafka, name, partitions or -1, replication_factor or -1, config or {})
    except KclusterError as problem:
        raise topic_names.explained(kafka, problem) from problem
    made = topics.with_config(kafka, list(topics.wait_until_led(kafka, {name: partitions or 0}).values()))[0]
    return Created(Topic(name, len(made.partitions), made.replication_factor, dict(config or {})), made.min_isr)


def _exists(
    kafka: Kafka, state: TopicState, partitions: int | None, factor: int | None, config: Mapping[str, str]
) -> RefusedError:
    """The error for a topic that exists, with its differences to the requested one."""
    state = topics.with_config(kafka, [state])[0]
    have = (len(state.partitions), state.replication_factor)
    requested = Topic(state.name, partitions or have[0], factor or have[1], config)
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
