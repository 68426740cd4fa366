"""What must be true of the cluster before a job starts: brokers, topics, and a place for dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import TopicState
from kcluster.errors import RefusedError, UsageError
from kcluster.inventory.client_config import parse, translate
from kcluster.operations.topic import names
from kcluster.operations.topic.change import settle
from kcluster.results import Progress

_LIBRDKAFKA = ("sasl.username", "sasl.password", "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location")
"""Names that Java's client does not have; Spark would ignore them."""
_SPARKS_OWN = (
    "bootstrap.servers",
    "group.id",
    "auto.offset.reset",
    "enable.auto.commit",
    "key.serializer",
    "value.serializer",
    "key.deserializer",
    "value.deserializer",
    "interceptor.classes",
)
"""Names that Spark's source sets itself and refuses from others."""


def present(known: Mapping[str, TopicState], wanted: Sequence[str]) -> list[TopicState]:
    """The topics that the job reads; the first that is missing is an error that says which is near."""
    try:
        return names.pick(known, wanted)
    except RefusedError as problem:
        missing = next(name for name in wanted if name not in known)
        create = f"correct `topics` in the job's file, or create it: kcluster topic create {missing}"
        raise RefusedError(problem.message, details=problem.resolution, resolution=create) from problem


def written(
    kafka: Kafka, known: Mapping[str, TopicState], wanted: Sequence[str], like: TopicState, say: Progress, *, dry: bool
) -> None:
    """Create the topics the job writes to when they are not there, with as many replicas as the topic it reads."""
    for name in wanted:
        names.valid(name)
        if name in known:
            continue
        if dry:
            say(f"the topic {name} is not there yet; job submit creates it")
            continue
        topics.create(kafka, name, -1, like.replication_factor, {})
        settle(kafka, [name])
        say(f"created the topic {name}, which the job writes to")


def clients(file: Path | None) -> dict[str, dict[str, str]]:
    """The security settings of a client's file, for Java and for librdkafka."""
    if file is None:
        return {}
    written = parse(file.read_text())
    if foreign := [key for key in written if key in _LIBRDKAFKA]:
        raise UsageError(
            f"{file}: {foreign[0]} is librdkafka's word, and Spark is Java",
            resolution="write the file as for Java clients: sasl.jaas.config, ssl.truststore.location, ...",
        )
    librdkafka: dict[str, Any] = translate(written, str(file))
    return {"java": {key: _absolute(key, value) for key, value in written.items() if key not in _SPARKS_OWN}} | {
        "librdkafka": {key: _absolute(key, value) for key, value in librdkafka.items() if key not in _SPARKS_OWN}
    }


def _absolute(key: str, value: str) -> str:
    """A file's name for a process that runs in another folder."""
    return str(Path(value).absolute()) if key.endswith(".location") and value else value
