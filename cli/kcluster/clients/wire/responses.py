"""What servers answer over the wire: the facts, and how they are read from the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kcluster.clients.wire.encoding import ByteReader
from kcluster.errors import RefusedError


@dataclass(frozen=True)
class Versions:
    """Which versions of each request a server takes: key -> (oldest, newest)."""

    ranges: Mapping[int, tuple[int, int]]

    def has(self, key: int) -> bool:
        """Whether the server knows the request at all."""
        return key in self.ranges


@dataclass(frozen=True)
class Features:
    """The levels of a KRaft cluster's features, "metadata.version" and the like; none with ZooKeeper."""

    finalized: Mapping[str, int]
    """What the cluster uses now."""
    supported: Mapping[str, tuple[int, int]]
    """The lowest and the highest level that the server can."""


@dataclass(frozen=True)
class NodeIdentity:
    """What a broker says about its cluster."""

    cluster: str
    controller: int
    """The broker it takes for the controller, -1 for none; with KRaft any broker, which then forwards."""
    brokers: frozenset[int] = frozenset()
    """The brokers it knows as registered."""


@dataclass(frozen=True)
class Voter:
    """One member of a KRaft quorum."""

    id: int
    log_end_offset: int
    last_caught_up_ms: int | None
    """When it was last level with the leader, in ms since 1970; None while unknown."""


@dataclass(frozen=True)
class QuorumState:
    """What the leader of a KRaft quorum knows about it."""

    leader: int
    epoch: int
    high_watermark: int
    voters: tuple[Voter, ...]
    observers: tuple[Voter, ...]


@dataclass(frozen=True)
class PartitionState:
    """One partition as a broker knows it."""

    id: int
    leader: int
    """-1 while there is none."""
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]


@dataclass(frozen=True)
class ClusterMetadata:
    """The cluster as one broker knows it."""

    brokers: Mapping[int, str]
    """The address of each."""
    controller: int
    """-1 for none; with KRaft any broker."""
    topics: Mapping[str, list[PartitionState]]


@dataclass(frozen=True)
class Replica:
    """The log of one replica on one broker."""

    topic: str
    partition: int
    size: int
    """Bytes."""
    lag: int
    """Records behind the high watermark."""
    directory: str


def refuse(code: int, question: str) -> None:
    """RefusedError where the code of an answer is not 0."""
    if code:
        raise RefusedError(f"the server does not answer the question for {question} (Kafka error {code})")


def versions(answer: ByteReader) -> Versions:
    """The table of requests."""
    refuse(answer.int16(), "its versions")
    return Versions(dict(answer.array(lambda: (answer.int16(), (answer.int16(), answer.int16())))))


def features(answer: ByteReader) -> Features:
    """The tagged fields behind the table of requests: 0 what is supported, 2 what is finalized."""
    refuse(answer.int16(), "its features")
    answer.compact_array(lambda: (answer.take(6), answer.tags()))  # the table of requests
    answer.int32()  # throttle time
    fields = answer.tags()
    supported, finalized = (_levels(ByteReader(fields[tag])) if tag in fields else {} for tag in (0, 2))
    return Features({name: highest for name, (highest, _) in finalized.items()}, supported)


def _levels(field: ByteReader) -> dict[str, tuple[int, int]]:
    def level() -> tuple[str, tuple[int, int]]:
        found = field.compact_string(), (field.int16(), field.int16())
        field.skip_tags()
        return found

    return dict(field.compact_array(level))


def cluster_id(answer: ByteReader) -> str:
    """The cluster's id; the reader stands behind it."""
    _brokers(answer)
    return answer.string()


def identity(answer: ByteReader) -> NodeIdentity:
    """The cluster, its brokers and its controller."""
    brokers = _brokers(answer)
    return NodeIdentity(answer.string(), answer.int32(), frozenset(brokers))


def _brokers(answer: ByteReader) -> dict[int, str]:
    answer.int32()  # throttle time
    found = answer.array(lambda: (answer.int32(), answer.string(), answer.int32(), answer.string()))
    return {broker: f"{host}:{port}" for broker, host, port, _ in found}


def metadata(answer: ByteReader) -> ClusterMetadata:
    """The brokers, the controller, and every topic with its partitions."""
    brokers = _brokers(answer)
    answer.string()  # the cluster's id
    return ClusterMetadata(brokers, answer.int32(), dict(answer.array(lambda: _topic(answer))))


def min_isr(answer: ByteReader) -> dict[str, int | None]:
    """The one property that was asked for, of each topic."""
    answer.int32()  # throttle time
    return dict(answer.array(lambda: _min_isr(answer)))


def _min_isr(answer: ByteReader) -> tuple[str, int | None]:
    answer.int16()  # an error shows in the value that is missing
    answer.string()
    answer.take(1)  # that it is a topic
    name = answer.string()
    values = answer.array(lambda: _property(answer))
    return name, int(values[0]) if values and values[0] else None


def _property(answer: ByteReader) -> str:
    answer.string()
    value = answer.string()
    answer.take(3)  # whether it can be changed, where it was set, whether it is a secret
    answer.array(lambda: (answer.string(), answer.string(), answer.take(1)))
    return value


def _topic(answer: ByteReader) -> tuple[str, list[PartitionState]]:
    answer.int16()  # an error of the topic shows in its partitions
    name = answer.string()
    answer.take(1)  # whether it is internal
    partitions = answer.array(lambda: _partition(answer))
    answer.int32()  # authorized operations
    return name, partitions


def _partition(answer: ByteReader) -> PartitionState:
    answer.int16()  # an error shows in the leader
    identity, leader, _ = answer.int32(), answer.int32(), answer.int32()
    replicas, isr, offline = (tuple(answer.array(answer.int32)) for _ in range(3))
    return PartitionState(identity, leader, replicas, isr, offline)


def altered(answer: ByteReader) -> None:
    """That the settings of every resource were taken, or why not."""
    answer.int32()  # throttle time
    for code, words in answer.array(lambda: (answer.int16(), answer.string(), answer.take(1), answer.string())[:2]):
        if code:
            raise RefusedError(f"the cluster refused it: {words}", details=f"Kafka error {code}")


def described(answer: ByteReader) -> str:
    """The cluster's id, as a controller says it."""
    answer.int32()  # throttle time
    refuse(answer.int16(), "its cluster")
    answer.compact_string()  # the error's words
    answer.take(1)  # that the answer is about controllers
    return answer.compact_string()


def quorum(answer: ByteReader) -> QuorumState:
    """The state of the metadata partition."""
    refuse(answer.int16(), "its quorum")
    return answer.compact_array(lambda: _quorum_topic(answer))[0][0]


def _quorum_topic(answer: ByteReader) -> list[QuorumState]:
    answer.compact_string()
    found = answer.compact_array(lambda: _quorum_partition(answer))
    answer.skip_tags()
    return found


def _quorum_partition(answer: ByteReader) -> QuorumState:
    answer.int32()  # the partition, which is always 0
    refuse(answer.int16(), "its quorum")
    state = QuorumState(
        leader=answer.int32(),
        epoch=answer.int32(),
        high_watermark=answer.int64(),
        voters=tuple(answer.compact_array(lambda: _voter(answer))),
        observers=tuple(answer.compact_array(lambda: _voter(answer))),
    )
    answer.skip_tags()
    return state


def _voter(answer: ByteReader) -> Voter:
    identity, end = answer.int32(), answer.int64()
    answer.int64()  # when it last fetched
    caught_up = answer.int64()
    answer.skip_tags()
    return Voter(identity, end, None if caught_up < 0 else caught_up)


def log_dirs(answer: ByteReader) -> list[Replica]:
    """Every replica in every directory."""
    answer.int32()  # throttle time
    return [replica for directory in answer.array(lambda: _directory(answer)) for replica in directory]


def _directory(answer: ByteReader) -> list[Replica]:
    answer.int16()  # a directory that failed has no topics
    path = answer.string()
    found = answer.array(lambda: _topic_sizes(answer, path))
    return [replica for topic in found for replica in topic]


def _topic_sizes(answer: ByteReader, path: str) -> list[Replica]:
    topic = answer.string()

    def replica() -> Replica:
        partition, size, lag, _ = answer.int32(), answer.int64(), answer.int64(), answer.take(1)
        return Replica(topic, partition, size, lag, path)

    return answer.array(replica)
