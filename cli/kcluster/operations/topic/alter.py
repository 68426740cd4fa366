"""`topic alter`: more partitions, and properties set or unset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import RefusedError, UsageError
from kcluster.model.topic_change import KEYED, TopicAction, TopicChange
from kcluster.operations.topic.apply import TopicPlan, check
from kcluster.operations.topic.plan import same
from kcluster.results import counted


def alter(
    kafka: Kafka, name: str, partitions: int | None, put: Mapping[str, str], unset: Sequence[str] = ()
) -> TopicPlan:
    """The changes of one topic, validated by the brokers; raises what they refuse."""
    if not (partitions or put or unset):
        raise UsageError("no change is given", resolution="use --partitions N, -c KEY=VALUE or --unset KEY")
    topic_names.not_internal(name, "alter")
    state = topics.with_config(kafka, topic_names.pick(topics.topics(kafka), [name]))[0]
    plan = TopicPlan([*grow(state, partitions), *configure(state, put, unset)], {})
    check(kafka, plan)
    return plan


def grow(state: TopicState, partitions: int | None) -> Iterator[TopicChange]:
    """The change to more partitions; raises RefusedError for fewer."""
    have = len(state.partitions)
    if partitions and partitions < have:
        raise RefusedError(
            f"{state.name} has {counted(have, 'partition')}; partitions only grow",
            resolution="create another topic and copy the records: kcluster consume ... | kcluster produce ...",
        )
    if partitions and partitions > have:
        yield TopicChange(TopicAction.GROW, state.name, "partitions", str(have), str(partitions), KEYED)


def configure(state: TopicState, put: Mapping[str, str], unset: Sequence[str]) -> Iterator[TopicChange]:
    """The changes of properties; raises UsageError for one that is both set and unset."""
    own = state.config or {}
    if twice := put.keys() & set(unset):
        raise UsageError(f"`{min(twice)}` is given to --config and --unset", resolution="use one of them")
    for key, value in put.items():
        if not same(own.get(key), value):
            yield TopicChange(TopicAction.SET, state.name, key, own.get(key, ""), value)
    for key in unset:
        if key in own:
            yield TopicChange(TopicAction.UNSET, state.name, key, own[key], "", "the brokers' default applies again")
        else:
            yield TopicChange(TopicAction.KEEP, state.name, key, "", "", "is not set")
