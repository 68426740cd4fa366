"""A small client of Kafka's own protocol, for what the big client does not ask: quorum, log sizes, followers."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kcluster.clients.dialing import Dial, direct
from kcluster.clients.wire import records, responses
from kcluster.clients.wire.encoding import NO_TAGS, ByteReader, compact_array, compact_string, string
from kcluster.clients.wire.records import FetchedPartition, RecordBatch
from kcluster.clients.wire.responses import (
    ClusterMetadata,
    Features,
    NodeIdentity,
    PartitionState,
    QuorumState,
    Replica,
    Versions,
    Voter,
)
from kcluster.errors import RefusedError, UnreachableError

__all__ = [
    "ClusterMetadata",
    "Features",
    "FetchedPartition",
    "NodeIdentity",
    "PartitionState",
    "QuorumState",
    "RecordBatch",
    "Replica",
    "Versions",
    "Voter",
    "api_versions",
    "cluster_id",
    "features",
    "fetch",
    "identity",
    "log_dirs",
    "metadata",
    "min_isr",
    "quorum",
    "set_cluster_default",
]

T = TypeVar("T")

FETCH, METADATA, API_VERSIONS, DESCRIBE_CONFIGS, DESCRIBE_LOG_DIRS = 1, 3, 18, 32, 35
ALTER_CONFIGS, DESCRIBE_QUORUM, DESCRIBE_CLUSTER = 44, 55, 60

_FLEXIBLE = {
    FETCH: 12,
    METADATA: 9,
    API_VERSIONS: 3,
    DESCRIBE_CONFIGS: 4,
    DESCRIBE_LOG_DIRS: 2,
    ALTER_CONFIGS: 1,
    DESCRIBE_QUORUM: 0,
    DESCRIBE_CLUSTER: 0,
}
"""From which version of a request on its fields are in the compact form."""

_NULL = struct.pack(">h", -1)
_TOPIC = 2
"""The kind of a resource with a configuration."""

_UNREAD_KEYS = {"ssl.certificate.pem", "ssl.key.pem", "ssl.keystore.location"}
"""Client keys that Python's TLS cannot load; without them the handshake would look as if nobody answered."""

WITHIN = 4.0
"""Seconds for a whole call: connecting, asking, and every byte of the answer."""


def api_versions(host: str, port: int, config: Mapping[str, str] | None = None, *, dial: Dial = direct) -> Versions:
    """The requests a server knows; of any broker or controller, whatever its release."""
    return _ask(host, port, API_VERSIONS, 0, b"", responses.versions, config, dial=dial)


def features(host: str, port: int, config: Mapping[str, str] | None = None, *, dial: Dial = direct) -> Features:
    """The levels of features; of a broker or a controller, before any login."""
    # Version 4, for the one before leaves out features whose lowest level is 0.
    body = compact_string("kcluster") + compact_string("1") + NO_TAGS
    return _ask(host, port, API_VERSIONS, 4, body, responses.features, config, dial=dial)


def cluster_id(
    host: str, port: int, config: Mapping[str, str] | None = None, *, controller: bool = False, dial: Dial = direct
) -> str:
    """The id of the cluster a broker, or a KRaft controller, belongs to."""
    if controller:
        of_controllers = struct.pack(">?b", False, 2) + NO_TAGS
        return _ask(host, port, DESCRIBE_CLUSTER, 1, of_controllers, responses.described, config, dial=dial)
    # No topics are asked for; topics are not created; authorized operations are not wanted.
    body = struct.pack(">i???", 0, False, False, False)
    return _ask(host, port, METADATA, 8, body, responses.cluster_id, config, dial=dial)


def identity(host: str, port: int, config: Mapping[str, str] | None = None, *, dial: Dial = direct) -> NodeIdentity:
    """The cluster and the controller, as one broker sees them."""
    body = struct.pack(">i???", 0, False, False, False)
    return _ask(host, port, METADATA, 8, body, responses.identity, config, dial=dial)


def metadata(
    host: str,
    port: int,
    config: Mapping[str, str] | None = None,
    *,
    within: float = WITHIN,
    dial: Dial = direct,
) -> ClusterMetadata:
    """The brokers, the controller and every topic with its partitions, as one broker knows them."""
    body = struct.pack(">i???", -1, False, False, False)
    return _ask(host, port, METADATA, 8, body, responses.metadata, config, within, dial=dial)


def min_isr(
    host: str, port: int, names: Sequence[str], config: Mapping[str, str] | None = None, *, dial: Dial = direct
) -> dict[str, int | None]:
    """min.insync.replicas of each of these topics; None where it may not be read."""
    wanted = struct.pack(">i", 1) + string("min.insync.replicas")
    resources = b"".join(struct.pack(">b", _TOPIC) + string(name) + wanted for name in names)
    no_synonyms = struct.pack(">?", False)
    body = struct.pack(">i", len(names)) + resources + no_synonyms
    return _ask(host, port, DESCRIBE_CONFIGS, 1, body, responses.min_isr, config, dial=dial)


def quorum(host: str, port: int, config: Mapping[str, str] | None = None, *, dial: Dial = direct) -> QuorumState:
    """The state of the KRaft quorum; of a broker or of a controller."""
    if not api_versions(host, port, config, dial=dial).has(DESCRIBE_QUORUM):
        raise RefusedError(f"{host}:{port} has no KRaft quorum: its cluster keeps the metadata in ZooKeeper")
    topic = compact_string("__cluster_metadata") + compact_array(struct.pack(">i", 0) + NO_TAGS) + NO_TAGS
    return _ask(host, port, DESCRIBE_QUORUM, 1, compact_array(topic) + NO_TAGS, responses.quorum, config, dial=dial)


def log_dirs(host: str, port: int, config: Mapping[str, str] | None = None) -> list[Replica]:
    """The replicas on a broker with their sizes."""
    every_topic = struct.pack(">i", -1)
    return _ask(host, port, DESCRIBE_LOG_DIRS, 1, every_topic, responses.log_dirs, config)


def fetch(
    host: str,
    port: int,
    topic: str,
    offsets: Mapping[int, int],
    config: Mapping[str, str] | None = None,
    *,
    within: float = WITHIN,
) -> dict[int, FetchedPartition]:
    """The records that a broker's own replicas of these partitions have from these offsets on, a part at a time.

    Followers answer as well. A consumer would wait up to 0.5 s for them to learn the high watermark, and a follower's
    question needs the rights of a broker; so this one asks as a "future local replica", with the rights of a consumer.
    """
    # From its id -3; wait 100 ms for 1 byte; at most 16 MB; no isolation; no session.
    head = struct.pack(">iiiibii", -3, 100, 1, 1 << 24, 0, 0, -1)
    # Whatever the leader's epoch; no first offset of our own; at most 1 MB of each partition.
    asked = [struct.pack(">iiqqi", partition, -1, offset, -1, 1 << 20) for partition, offset in offsets.items()]
    topics = struct.pack(">i", 1) + string(topic) + struct.pack(">i", len(asked)) + b"".join(asked)
    nothing_forgotten, no_rack = struct.pack(">i", 0), string("")
    body = head + topics + nothing_forgotten + no_rack
    return _ask(host, port, FETCH, 11, body, records.fetched, config, within)


def set_cluster_default(
    host: str, port: int, key: str, value: str | None, config: Mapping[str, str] | None = None
) -> None:
    """Set a property for all brokers, or with None take it back; librdkafka cannot name "all brokers"."""
    alteration = string(key) + (struct.pack(">b", 1) + _NULL if value is None else struct.pack(">b", 0) + string(value))
    # One resource: of the kind "broker", without a name, with one alteration; not only validated.
    body = struct.pack(">ib", 1, 4) + string("") + struct.pack(">i", 1) + alteration + struct.pack(">?", False)
    _ask(host, port, ALTER_CONFIGS, 0, body, responses.altered, config)


# Asking.


def _ask(
    host: str,
    port: int,
    key: int,
    version: int,
    body: bytes,
    parse: Callable[[ByteReader], T],
    config: Mapping[str, str] | None,
    within: float | None = None,
    *,
    dial: Dial = direct,
) -> T:
    """Connect, ask one question and read its answer, within the deadline."""
    within = WITHIN if within is None else within
    deadline = time.monotonic() + within
    flexible = version >= _FLEXIBLE[key]
    header = struct.pack(">hhi", key, version, 1) + string("kcluster") + (NO_TAGS if flexible else b"")
    try:
        with _connect(host, port, config or {}, within, dial) as connection:
            connection.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
            size = struct.unpack(">i", _receive(connection, 4, deadline))[0]
            answer = ByteReader(_receive(connection, size, deadline))
            answer.int32()  # the number of the question, which is always 1
            if flexible and key != API_VERSIONS:
                answer.skip_tags()
            return parse(answer)
    except (OSError, ValueError) as problem:
        raise UnreachableError(f"{host}:{port} does not answer: {problem}") from problem


def _connect(host: str, port: int, config: Mapping[str, str], within: float, dial: Dial) -> socket.socket:
    protocol = config.get("security.protocol", "plaintext").upper()
    if protocol.startswith("SASL"):
        raise RefusedError(f"not available over {protocol}: this question needs a listener without SASL")
    if protocol == "SSL" and (unread := sorted(_UNREAD_KEYS & config.keys())):
        raise RefusedError(f"not available with {unread[0]}: this question needs a client key in a file of its own")
    connection = dial(host, port, within)
    return _secured(connection, host, config) if protocol == "SSL" else connection


def _secured(connection: socket.socket, host: str, config: Mapping[str, str]) -> socket.socket:
    import ssl

    trust = ssl.create_default_context(cafile=config.get("ssl.ca.location"), cadata=config.get("ssl.ca.pem"))
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
