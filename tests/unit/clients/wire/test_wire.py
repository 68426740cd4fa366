"""Questions over the wire against a server that answers with prepared bytes."""

import socket
import struct
import threading
import time
from contextlib import contextmanager

import pytest

from kcluster.clients import wire
from kcluster.clients.wire.encoding import compact_array, compact_string, string
from kcluster.errors import RefusedError, UnreachableError

VERSIONS = struct.pack(">h", 0) + struct.pack(">i", 2) + struct.pack(">hhh", 55, 0, 2) + struct.pack(">hhh", 1, 4, 18)


@contextmanager
def server(*answers):
    """A server on loopback that gives one connection after the other the next of these answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        asked = []

        def serve():
            for answer in answers:
                connection, _ = listening.accept()
                with connection:
                    asked.append(connection.recv(4096))
                    body = struct.pack(">i", 1) + answer
                    connection.sendall(struct.pack(">i", len(body)) + body)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], asked
        thread.join(5)


def test_the_versions_of_a_server_are_a_table():
    with server(VERSIONS) as (port, asked):
        versions = wire.api_versions("127.0.0.1", port)
    assert versions.ranges == {55: (0, 2), 1: (4, 18)}
    assert versions.has(wire.DESCRIBE_QUORUM)
    assert asked[0][4:8] == struct.pack(">hh", 18, 0)


def test_the_features_of_a_server_are_those_it_can_and_those_that_are_final():
    def level(name, first, second):
        return compact_string(name) + struct.pack(">hh", first, second) + b"\x00"

    supported = compact_array(level("kraft.version", 0, 1), level("metadata.version", 1, 25))
    final = compact_array(level("metadata.version", 21, 21))
    fields = b"".join(bytes([tag, len(field)]) + field for tag, field in ((0, supported), (1, bytes(8)), (2, final)))
    requests = compact_array(struct.pack(">hhh", 18, 0, 4) + b"\x00")
    with server(struct.pack(">h", 0) + requests + struct.pack(">i", 0) + b"\x03" + fields) as (port, asked):
        features = wire.features("127.0.0.1", port)
    assert features.finalized == {"metadata.version": 21}
    assert features.supported == {"kraft.version": (0, 1), "metadata.version": (1, 25)}
    assert asked[0][4:8] == struct.pack(">hh", 18, 4)


def test_the_quorum_has_its_leader_and_voters():
    voter = struct.pack(">iqqq", 3000, 120, 1, 1_700_000_000_000) + b"\x00"
    silent = struct.pack(">iqqq", 3001, 80, -1, -1) + b"\x00"
    state = struct.pack(">ihiiq", 0, 0, 3000, 7, 119) + compact_array(voter, silent) + compact_array() + b"\x00"
    topic = compact_string("__cluster_metadata") + compact_array(state) + b"\x00"
    answer = b"\x00" + struct.pack(">h", 0) + compact_array(topic) + b"\x00"
    with server(VERSIONS, answer) as (port, _):
        quorum = wire.quorum("127.0.0.1", port)
    assert (quorum.leader, quorum.epoch, quorum.high_watermark) == (3000, 7, 119)
    assert quorum.voters == (wire.Voter(3000, 120, 1_700_000_000_000), wire.Voter(3001, 80, None))


def test_a_broker_with_zookeeper_has_no_quorum():
    with (
        server(struct.pack(">hi", 0, 0)) as (port, _),
        pytest.raises(RefusedError, match="no KRaft quorum"),
    ):
        wire.quorum("127.0.0.1", port)


def test_the_logs_of_a_broker_are_listed_with_their_sizes():
    replica = struct.pack(">iqq?", 2, 4096, 5, False)
    topic = string("orders") + struct.pack(">i", 1) + replica
    directory = struct.pack(">h", 0) + string("/data") + struct.pack(">i", 1) + topic
    with server(struct.pack(">ii", 0, 1) + directory) as (port, _):
        assert wire.log_dirs("127.0.0.1", port) == [wire.Replica("orders", 2, 4096, 5, "/data")]


@pytest.mark.parametrize("key", ["ssl.key.pem", "ssl.keystore.location"])
def test_a_client_key_that_cannot_be_loaded_is_refused_and_not_taken_for_silence(key):
    with pytest.raises(RefusedError, match=f"not available with {key}"):
        wire.fetch("127.0.0.1", 1, "t", {0: 0}, {"security.protocol": "ssl", key: "x"})


def batch(first, last_delta, content, leader_epoch):
    body = struct.pack(">bIhi", 2, 0, 0, last_delta) + bytes(34) + content
    return struct.pack(">qii", first, len(body) + 4, leader_epoch) + body


def fetched(partition, error, records):
    numbers = struct.pack(">ihqqq", partition, error, 9, 9, 0)
    return numbers + struct.pack(">iqqi", 1, 5, 0, -1) + struct.pack(">i", len(records)) + records


def test_the_records_of_a_replica_come_in_whole_batches_with_a_checksum_that_leaders_do_not_change():
    whole = batch(0, 3, b"abcd", leader_epoch=1) + batch(4, 0, b"e", leader_epoch=1)
    partitions = fetched(0, 0, whole + batch(5, 0, b"cut off", leader_epoch=1)[:-1]) + fetched(2, 1, b"")
    answer = struct.pack(">ihii", 0, 0, 0, 1) + string("t") + struct.pack(">i", 2) + partitions
    elected = struct.pack(">ihii", 0, 0, 0, 1) + string("t") + struct.pack(">i", 1)
    elected += fetched(0, 0, batch(0, 3, b"abcd", leader_epoch=2) + batch(4, 0, b"x", leader_epoch=2))
    with server(answer, elected) as (port, asked):
        first = wire.fetch("127.0.0.1", port, "t", {0: 0, 2: 7})
        second = wire.fetch("127.0.0.1", port, "t", {0: 0})
    assert [(one.first, one.last) for one in first[0].batches] == [(0, 3), (4, 4)]
    assert (first[0].error, first[2]) == (0, wire.FetchedPartition(1, ()))
    assert second[0].batches[0] == first[0].batches[0]
    assert second[0].batches[1].checksum != first[0].batches[1].checksum
    assert asked[0][4:8] == struct.pack(">hh", 1, 11)


@pytest.mark.parametrize("length", [-5, 0, 1 << 30])
def test_a_damaged_batch_ends_the_reading(length):
    damaged = struct.pack(">qi", 0, length) + bytes(80)
    answer = struct.pack(">ihii", 0, 0, 0, 1) + string("t") + struct.pack(">i", 1) + fetched(0, 0, damaged)
    with server(answer) as (port, _):
        assert wire.fetch("127.0.0.1", port, "t", {0: 0}) == {0: wire.FetchedPartition(0, ())}


def test_the_cluster_id_follows_the_brokers():
    broker = struct.pack(">i", 1) + string("host") + struct.pack(">i", 9092) + struct.pack(">h", -1)
    with server(struct.pack(">ii", 0, 1) + broker + string("the-id")) as (port, _):
        assert wire.cluster_id("127.0.0.1", port) == "the-id"


def test_a_refused_port_is_unreachable_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(UnreachableError, match=f"127.0.0.1:{port} does not answer"):
        wire.api_versions("127.0.0.1", port)


def test_a_server_that_says_nothing_is_given_up_at_the_deadline(monkeypatch):
    monkeypatch.setattr(wire, "WITHIN", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        begun = time.monotonic()
        with pytest.raises(UnreachableError):
            wire.api_versions("127.0.0.1", listening.getsockname()[1])
    assert time.monotonic() - begun < 3.5  # 4 s would be the usual deadline


def test_an_answer_cut_off_is_an_error_and_not_half_a_table():
    with server(VERSIONS[:-3]) as (port, _), pytest.raises(UnreachableError, match="ends too early"):
        wire.api_versions("127.0.0.1", port)


def test_sasl_is_said_to_be_not_available():
    with pytest.raises(RefusedError, match="not available over SASL_SSL"):
        wire.api_versions("127.0.0.1", 1, {"security.protocol": "sasl_ssl"})


def test_topics_are_read_with_replicas_in_order_and_those_offline():
    brokers = struct.pack(">ii", 0, 0)
    ids = b"".join(struct.pack(f">i{len(part)}i", len(part), *part) for part in ((3, 1), (3,), (1,)))
    partition = struct.pack(">hiii", 9, 0, -1, 4) + ids
    topic = struct.pack(">h", 0) + string("orders") + b"\x00" + struct.pack(">i", 1) + partition + struct.pack(">i", 0)
    answer = brokers + string("the-id") + struct.pack(">ii", 1, 1) + topic + struct.pack(">i", 0)
    with server(answer) as (port, _):
        found = wire.metadata("127.0.0.1", port)
    assert (found.brokers, found.controller) == ({}, 1)
    assert found.topics == {"orders": [wire.PartitionState(0, -1, (3, 1), (3,), (1,))]}


def test_min_isr_is_asked_of_several_topics_at_once_and_may_be_secret():
    def resource(code, name, *value):
        values = b"".join(
            string("min.insync.replicas") + string(v) + b"\x00\x01\x00" + struct.pack(">i", 0) for v in value
        )
        head = struct.pack(">hh", code, -1) + b"\x02" + string(name)
        return head + struct.pack(">i", len(value)) + values

    answer = struct.pack(">ii", 0, 2) + resource(0, "orders", "2") + resource(29, "secret")
    with server(answer) as (port, asked):
        found = wire.min_isr("127.0.0.1", port, ["orders", "secret"])
    assert found == {"orders": 2, "secret": None}
    assert asked[0].count(b"min.insync.replicas") == 2
