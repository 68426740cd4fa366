"""Checks of topics before a job starts, and the topics that are created for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kcluster.clients.kafka import Kafka, topic_names, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import UsageError
from kcluster.results import Progress

OUTPUTS = {
    "dead_letters": {
        # The audit counts dead letters as long as the table exists, so they must not expire by the brokers' defaults.
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        # Every record of a topic must fit together with its reason, also with another compression: far above the
        # default of 1 MB, and below the 100 MB that clients fetch at once.
        "max.message.bytes": str(64 << 20),
    }
}
"""The configuration of topics created for a job, by the key of its file that names them."""


def require_topics(known: Mapping[str, TopicState], names: Sequence[str]) -> list[TopicState]:
    """The topics that the job reads; UsageError names the first missing one and similar names."""
    try:
        return topic_names.pick(known, names)
    except UsageError as problem:
        missing = next(name for name in names if name not in known)
        create = f"correct `topics` in the job's file, or create it: kcluster topic create {missing}"
        raise UsageError(problem.message, details=problem.resolution, resolution=create) from problem


def create_output_topics(
    kafka: Kafka,
    known: Mapping[str, TopicState],
    names: Mapping[str, Mapping[str, str]],
    like: TopicState,
    progress: Progress,
    *,
    dry_run: bool,
) -> None:
    """Create missing topics that the job writes to, replicated as `like`; a dry run only reports them."""
    for name, config in names.items():
        topic_names.valid(name)
        if name in known:
            continue
        if dry_run:
            progress(f"topic {name} does not exist; job submit creates it")
            continue
        topics.create(kafka, name, -1, like.replication_factor, config)
        topics.wait_until_led(kafka, {name: 0})
        progress(f"created topic {name} for the output of the job")
