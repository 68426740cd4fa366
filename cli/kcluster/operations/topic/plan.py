"""`topic plan`: the changes from the existing topics to the declared ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kcluster.clients.kafka import ANSWER_WITHIN, Kafka, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import RefusedError
from kcluster.model.topic import Topic
from kcluster.model.topic_change import KEYED, TopicAction, TopicChange
from kcluster.operations.topic.apply import TopicPlan, check
from kcluster.results import counted


def plan(kafka: Kafka, declared: Sequence[Topic], *, prune: bool = False) -> TopicPlan:
    """The changes from the existing topics to the declared ones, validated by the brokers; raises what they refuse."""
    wanted = compare(kafka, declared, prune=prune)
    check(kafka, wanted)
    return wanted


def compare(
    kafka: Kafka, declared: Sequence[Topic], *, prune: bool = False, broker: int | None = None, within: float = 10.0
) -> TopicPlan:
    """The difference, from one request for the topics and one, to this broker, for their config."""
    known = topics.topics(kafka, within=min(within, ANSWER_WITHIN))
    names = {topic.name for topic in declared}
    existing = [state for state in known.values() if state.name in names]
    configured = topics.with_config(kafka, existing, broker=broker, within=within)
    return difference(declared, {**known, **{state.name: state for state in configured}}, prune=prune)


def difference(declared: Sequence[Topic], existing: Mapping[str, TopicState], *, prune: bool = False) -> TopicPlan:
    """Declared minus existing. Nothing is deleted or unset without `prune`, and internal topics are never touched."""
    wanted = {topic.name: topic for topic in declared if not topic.internal}
    changes = [change for topic in wanted.values() for change in _topic(topic, existing.get(topic.name), prune=prune)]
    undeclared = sorted(name for name, state in existing.items() if name not in wanted and not state.internal)
    if prune:
        changes += [
            TopicChange(TopicAction.DELETE, name, note="not declared; its records are deleted") for name in undeclared
        ]
    return TopicPlan(changes, wanted, () if prune else undeclared)


def _topic(topic: Topic, state: TopicState | None, *, prune: bool) -> Iterator[TopicChange]:
    if state is None:
        yield TopicChange(TopicAction.CREATE, topic.name, after=summary(topic))
        return
    yield from _numbers(topic, state)
    yield from _properties(topic, state, prune=prune)


def summary(topic: Topic) -> str:
    """A topic in one line: its numbers and its properties."""
    numbers = f"{counted(topic.partitions, 'partition')}, replication factor {topic.replication_factor}"
    return ", ".join([numbers, *(f"{key}={value}" for key, value in topic.config.items())])


def _numbers(topic: Topic, state: TopicState) -> Iterator[TopicChange]:
    have, want = len(state.partitions), topic.partitions
    if want > have:
        yield TopicChange(TopicAction.GROW, topic.name, "partitions", str(have), str(want), KEYED)
    elif want < have:
        yield TopicChange(TopicAction.KEEP, topic.name, "partitions", str(have), str(want), "partitions only grow")
    if topic.replication_factor != state.replication_factor:
        yield TopicChange(
            TopicAction.KEEP,
            topic.name,
            "replication factor",
            str(state.replication_factor),
            str(topic.replication_factor),
            "changing it needs a partition reassignment",
        )


def _properties(topic: Topic, state: TopicState, *, prune: bool) -> Iterator[TopicChange]:
    own = state.config
    if own is None:
        raise RefusedError(
            f"no permission to read the config of topic {topic.name}",
            resolution="grant DescribeConfigs on the topic, or use another user with --client-config",
        )
    for key, value in topic.config.items():
        if not same(own.get(key), value):
            yield TopicChange(TopicAction.SET, topic.name, key, own.get(key, ""), value)
    for key in sorted(own.keys() - topic.config.keys()):
        if prune:
            yield TopicChange(
                TopicAction.UNSET, topic.name, key, own[key], "", "not declared; the brokers' default applies again"
            )
        else:
            yield TopicChange(TopicAction.KEEP, topic.name, key, own[key], "", "set on the cluster, not declared")


def same(one: str | None, other: str) -> bool:
    """Whether two values are equal: Kafka drops the blanks in a list."""
    return one is not None and [part.strip() for part in one.split(",")] == [part.strip() for part in other.split(",")]
