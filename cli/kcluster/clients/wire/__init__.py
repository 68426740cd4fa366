"""A small client of Kafka's own protocol, for what the big client does not ask: quorum, log sizes, versions."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kcluster.clients.wire.encoding import NO_TAGS, Reader, compact_array, compact_string, string
from kcluster.errors import RefusedError, UnreachableError

T = TypeVar("T")

METADATA, API_VERSIONS, DESCRIBE_LOG_DIRS, DESCRIBE_QUORUM, DESCRIBE_CLUSTER = 3, 18, 35, 55, 60

_FLEXIBLE = {METADATA: 9, API_VERSIONS: 3, DESCRIBE_LOG_DIRS: 2, DESCRIBE_QUORUM: 0, DESCRIBE_CLUSTER: 0}
"""From which version of a request on its fields are in the compact form."""

WITHIN = 4.0
"""Seconds for a whole call: connecting, asking, and every byte of the answer."""


@dataclass(frozen=True)
class Versions:
    """Which versions of each request a server takes: key -> (oldest, newest)."""

    ranges: Mapping[int, tuple[int, int]]

    def has(self, key: int) -> bool:
        """Whether the server knows the request at all."""
        return key in self.ranges


@dataclass(frozen=True)
class Identity:
    """What a broker says about its cluster."""

    cluster: str
    controller: int
    """The broker it takes for the controller, -1 for none; with KRaft any broker, which then forwards."""


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
class Replica:
    """The log of one replica on one broker."""

    topic: str
    partition: int
    size: int
    """Bytes."""
    lag: int
    """Records behind the high watermark."""
    directory: str


def api_versions(host: str, port: int, config: Mapping[str, str] | None = None) -> Versions:
    """The requests a server knows; of any broker or controller, whatever its release."""
    return _ask(host, port, API_VERSIONS, 0, b"", _versions, config)


def cluster_id(host: str, port: int, config: Mapping[str, str] | None = None, *, controller: bool = False) -> str:
    """The id of the cluster a broker, or a KRaft controller, belongs to."""
    if controller:
        of_controllers = struct.pack(">?b", False, 2) + NO_TAGS
        return _ask(host, port, DESCRIBE_CLUSTER, 1, of_controllers, _described, config)
    # No topics are asked for; topics are not created; authorized operations are not wanted.
    body = struct.pack(">i???", 0, False, False, False)
    return _ask(host, port, METADATA, 8, body, _metadata, config)


def identity(host: str, port: int, config: Mapping[str, str] | None = None) -> Identity:
    """The cluster and the controller, as one broker sees them."""
    body = struct.pack(">i???", 0, False, False, False)
    return _ask(host, port, METADATA, 8, body, _identity, config)


def quorum(host: str, port: int, config: Mapping[str, str] | None = None) -> QuorumState:
    """The state of the KRaft quorum; of a broker or of a controller."""
    if not api_versions(host, port, config).has(DESCRIBE_QUORUM):
        raise RefusedError(f"{host}:{port} has no KRaft quorum: its cluster keeps the metadata in ZooKeeper")
    topic = compact_string("__cluster_metadata") + compact_array(struct.pack(">i", 0) + NO_TAGS) + NO_TAGS
    return _ask(host, port, DESCRIBE_QUORUM, 1, compact_array(topic) + NO_TAGS, _quorum, config)


def log_dirs(host: str, port: int, config: Mapping[str, str] | None = None) -> list[Replica]:
    """The replicas on a broker with their sizes."""
    every_topic = struct.pack(">i", -1)
    return _ask(host, port, DESCRIBE_LOG_DIRS, 1, every_topic, _log_dirs, config)


# Asking.


def _ask(
    host: str,
    port: int,
    key: int,
    version: int,
    body: bytes,
    parse: Callable[[Reader], T],
    config: Mapping[str, str] | None,
) -> T:
    """Connect, ask one question and read its answer, within the deadline."""
    deadline = time.monotonic() + WITHIN
    flexible = version >= _FLEXIBLE[key]
    header = struct.pack(">hhi", key, version, 1) + string("kcluster") + (NO_TAGS if flexible else b"")
    try:
        with _connect(host, port, config or {}) as connection:
            connection.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
            size = struct.unpack(">i", _receive(connection, 4, deadline))[0]
            answer = Reader(_receive(connection, size, deadline))
            answer.int32()  # the number of the question, which is always 1
            if flexible and key != API_VERSIONS:
                answer.skip_tags()
            return parse(answer)
    except (OSError, ValueError) as problem:
        raise UnreachableError(f"{host}:{port} does not answer: {problem}") from problem


def _connect(host: str, port: int, config: Mapping[str, str]) -> socket.socket:
    protocol = config.get("security.protocol", "plaintext").upper()
    if protocol.startswith("SASL"):
        raise RefusedError(f"not available over {protocol}: this question needs a listener without SASL")
    connection = socket.create_connection((host, port), timeout=WITHIN)
    return _secured(connection, host, config) if protocol == "SSL" else connection


def _secured(connection: socket.socket, host: str, config: Mapping[str, str]) -> socket.socket:
    import ssl

    trust = ssl.create_default_context(cafile=config.get("ssl.ca.location"))
    if certificate := config.get("ssl.certificate.location"):
        trust.load_cert_chain(certificate, config.get("ssl.key.location"), config.get("ssl.key.password"))
    if config.get("ssl.endpoint.identification.algorithm") == "none":
        trust.check_hostname = False
    return trust.wrap_socket(connection, server_hostname=host)


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(left)
        part = connection.recv(min(size - len(data), 1 << 16))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return bytes(data)


# Reading the answers.


def _refuse(code: int, question: str) -> None:
    if code:
        raise RefusedError(f"the server does not answer the question for {question} (Kafka error {code})")


def _versions(answer: Reader) -> Versions:
    _refuse(answer.int16(), "its versions")
    return Versions(dict(answer.array(lambda: (answer.int16(), (answer.int16(), answer.int16())))))


def _metadata(answer: Reader) -> str:
    answer.int32()  # throttle time
    answer.array(lambda: (answer.int32(), answer.string(), answer.int32(), answer.string()))
    return answer.string()


def _identity(answer: Reader) -> Identity:
    return Identity(_metadata(answer), answer.int32())


def _described(answer: Reader) -> str:
    answer.int32()  # throttle time
    _refuse(answer.int16(), "its cluster")
    answer.compact_string()  # the error's words
    answer.take(1)  # that the answer is about controllers
    return answer.compact_string()


def _quorum(answer: Reader) -> QuorumState:
    _refuse(answer.int16(), "its quorum")
    return answer.compact_array(lambda: _quorum_topic(answer))[0][0]


def _quorum_topic(answer: Reader) -> list[QuorumState]:
    answer.compact_string()
    found = answer.compact_array(lambda: _quorum_partition(answer))
    answer.skip_tags()
    return found


def _quorum_partition(answer: Reader) -> QuorumState:
    answer.int32()  # the partition, which is always 0
    _refuse(answer.int16(), "its quorum")
    state = QuorumState(
        leader=answer.int32(),
        epoch=answer.int32(),
        high_watermark=answer.int64(),
        voters=tuple(answer.compact_array(lambda: _voter(answer))),
        observers=tuple(answer.compact_array(lambda: _voter(answer))),
    )
    answer.skip_tags()
    return state


def _voter(answer: Reader) -> Voter:
    identity, end = answer.int32(), answer.int64()
    answer.int64()  # when it last fetched
    caught_up = answer.int64()
    answer.skip_tags()
    return Voter(identity, end, None if caught_up < 0 else caught_up)


def _log_dirs(answer: Reader) -> list[Replica]:
    answer.int32()  # throttle time
    return [replica for directory in answer.array(lambda: _directory(answer)) for replica in directory]


def _directory(answer: Reader) -> list[Replica]:
    answer.int16()  # a directory that failed has no topics
    path = answer.string()
    found = answer.array(lambda: _topic_sizes(answer, path))
    return [replica for topic in found for replica in topic]


def _topic_sizes(answer: Reader, path: str) -> list[Replica]:
    topic = answer.string()

    def replica() -> Replica:
        partition, size, lag, _ = answer.int32(), answer.int64(), answer.int64(), answer.take(1)
        return Replica(topic, partition, size, lag, path)

    return answer.array(replica)
