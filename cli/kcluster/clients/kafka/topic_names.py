"""Which topic was meant, and what was written about it on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kcluster.clients.kafka import Kafka
from kcluster.clients.kafka.topics import TopicState, property_names
from kcluster.errors import KclusterError, RefusedError, UsageError
from kcluster.model.suggestions import nearest
from kcluster.model.topic import name_fault


def unknown(kind: str, name: str, names: Iterable[str], lister: str) -> UsageError:
    """The error for a name the cluster does not have, with the names that are near."""
    near = nearest(name, names)
    meant = "did you mean " + " or ".join(near) + "?" if near else lister
    return UsageError(f"there is no {kind} {name} (or this user may not see it)", resolution=meant)


def pick(states: Mapping[str, TopicState], names: Sequence[str]) -> list[TopicState]:
    """The topics of these names; the first unknown one is an error that says which are near."""
    for name in names:
        if name not in states:
            raise unknown("topic", name, states, "kcluster topic list")
    return [states[name] for name in dict.fromkeys(names)]


def valid(name: str) -> str:
    """The name, when Kafka would take it."""
    if fault := name_fault(name):
        raise UsageError(f"`{name}` is not a valid topic name: {fault}", resolution="choose another name")
    return name


def not_internal(name: str, verb: str) -> str:
    """The name, when it is not one of the topics Kafka keeps for itself."""
    if name.startswith("__"):
        raise RefusedError(
            f"{name} is an internal topic of Kafka; kcluster does not {verb} it",
            resolution="change it with broker properties",
        )
    return name


def settings(pairs: Iterable[str]) -> dict[str, str]:
    """`key=value` words as a dictionary."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"`{pair}` is not KEY=VALUE", resolution="for example -c retention.ms=86400000")
        found[key.strip()] = value.strip()
    return found


def explained(kafka: Kafka, problem: KclusterError) -> KclusterError:
    """What the brokers say about a property, as an error about the value that was given."""
    from kcluster.config.property_tables import topic_table
    from kcluster.model.release import Release

    _, unknown_property, key = problem.message.partition("Unknown topic config name: ")
    if unknown_property:
        near = nearest(key, property_names(kafka) or topic_table(Release().version))
        meant = (
            "did you mean " + " or ".join(near) + "?" if near else "see the topic properties in Kafka's documentation"
        )
        return UsageError(f"`{key}` is not a topic property", resolution=meant)
    if "INVALID_CONFIG" in problem.details:
        reason = problem.message.partition("refused it: ")[2]
        return UsageError(reason[:1].lower() + reason[1:], resolution="correct the value")
    return problem
