"""What must be true of the cluster before a job starts: brokers, topics, and a place for dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import RefusedError
from kcluster.results import Progress

OUTPUTS = {
    "dead_letters": {
        # The audit counts them for as long as the table is there; whatever the brokers' own defaults are.
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        # Whatever a topic took is to fit with its reason, compressed in another way: far above the usual 1 MB, and
        # below the 100 MB that clients receive at once.
        "max.message.bytes": str(64 << 20),
    }
}
"""The configuration of topics that are made for a job, by the key of its file that names them."""


def present(known: Mapping[str, TopicState], wanted: Sequence[str]) -> list[TopicState]:
    """The topics that the job reads; the first that is missing is an error that says which is near."""
    try:
        return topic_names.pick(known, wanted)
    except RefusedError as problem:
        missing = next(name for name in wanted if name not in known)
        create = f"correct `topics` in the job's file, or create it: kcluster topic create {missing}"
        raise RefusedError(problem.message, details=problem.resolution, resolution=create) from problem


def written(
    kafka: Kafka,
    known: Mapping[str, TopicState],
    wanted: Mapping[str, Mapping[str, str]],
    like: TopicState,
    say: Progress,
    *,
    dry: bool,
) -> None:
    """Create the topics the job writes to when they are not there, with as many replicas as the topic it reads."""
    for name, config in wanted.items():
        topic_names.valid(name)
        if name in known:
            continue
        if dry:
            say(f"the topic {name} is not there yet; job submit creates it")
            continue
        topics.create(kafka, name, -1, like.replication_factor, config)
        topics.wait_until_led(kafka, {name: 0})
        say(f"created the topic {name}, which the job writes to")
