"""`topic alter`: more partitions, and properties set or unset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import RefusedError, UsageError
from kcluster.model.topic_change import KEYED, Action, Change
from kcluster.operations.topic import names
from kcluster.operations.topic.change import Plan, check
from kcluster.operations.topic.plan import same


def alter(kafka: Kafka, name: str, partitions: int | None, put: Mapping[str, str], unset: Sequence[str] = ()) -> Plan:
    """The plan of the change; the brokers were asked whether they would do it."""
    if not (partitions or put or unset):
        raise UsageError("nothing was asked for", resolution="give --partitions, -c key=value or --unset key")
    names.not_internal(name, "alter")
    state = topics.with_config(kafka, names.pick(topics.topics(kafka), [name]))[0]
    plan = Plan([*grow(state, partitions), *configure(state, put, unset)], {})
    check(kafka, plan)
    return plan


def grow(state: TopicState, partitions: int | None) -> Iterator[Change]:
    """The step to more partitions; fewer is refused."""
    have = len(state.partitions)
    if partitions and partitions < have:
        raise RefusedError(
            f"{state.name} has {have} partitions; partitions only grow",
            resolution="make another topic and copy the records: kcluster consume ... | kcluster produce ...",
        )
    if partitions and partitions > have:
        yield Change(Action.GROW, state.name, "partitions", str(have), str(partitions), KEYED)


def configure(state: TopicState, put: Mapping[str, str], unset: Sequence[str]) -> Iterator[Change]:
    """The properties whose values differ, and those to take away that are set."""
    own = state.config or {}
    if twice := put.keys() & set(unset):
        raise UsageError(f"`{min(twice)}` is set and unset at once", resolution="give one of the two")
    for key, value in put.items():
        if not same(own.get(key), value):
            yield Change(Action.SET, state.name, key, own.get(key, ""), value)
    for key in unset:
        if key in own:
            yield Change(Action.UNSET, state.name, key, own[key], "", "the brokers' default counts again")
        else:
            yield Change(Action.KEEP, state.name, key, "", "", "is not set")
