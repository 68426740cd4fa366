from __future__ import annotations

import time
from dataclasses import replace

import pytest

from kcluster.clients import wire
from kcluster.clients.kafka import Kafka
from kcluster.clients.wire import FetchedPartition, RecordBatch
from kcluster.errors import RefusedError, UnreachableError
from kcluster.smoke import replica_reads
from kcluster.smoke.replica_reads import ReplicaRead, judge_replicas, read_replicas

LEADERS = {0: 1}
BATCHES = (RecordBatch(0, 3, 11), RecordBatch(4, 4, 22), RecordBatch(5, 9, 33))
ALIVE = {1: "h1:9092", 2: "h2:9092"}


def read(broker: int, *batches: RecordBatch, reason: str = "") -> ReplicaRead:
    gathered = ReplicaRead(0, broker, 0, 10)
    gathered.take(FetchedPartition(0, batches))
    gathered.reason = reason
    return gathered


def faults(*reads: ReplicaRead) -> list[tuple[int, str]]:
    return [(row.broker, row.fault) for row in judge_replicas(reads, LEADERS)]


def test_replicas_with_the_same_batches_are_complete() -> None:
    assert faults(read(1, *BATCHES), read(2, *BATCHES)) == [(1, ""), (2, "")]


def test_a_replica_that_ends_early_is_named_with_its_offset_and_the_reason() -> None:
    assert faults(read(1, *BATCHES), read(2, *BATCHES[:2]), read(3, *BATCHES[:1], reason="h3:9092 is away")) == [
        (1, ""),
        (2, "read only to offset 5 of 10: it has no more records"),
        (3, "read only to offset 4 of 10: h3:9092 is away"),
    ]


@pytest.mark.parametrize(
    "batches",
    [
        (BATCHES[0], replace(BATCHES[1], checksum=23), BATCHES[2]),
        (BATCHES[0], BATCHES[2]),  # a hole, with the end in its place
    ],
)
def test_a_replica_with_other_records_than_its_leader_is_named_with_the_first_offset(
    batches: tuple[RecordBatch, ...],
) -> None:
    assert faults(read(1, *BATCHES), read(2, *batches))[1] == (
        2,
        "differs from that of the leader, broker 1, at offset 4",
    )


def test_where_the_leader_cannot_be_read_the_others_are_not_called_different() -> None:
    assert [bool(fault) for _, fault in faults(read(1, BATCHES[0]), read(2, *BATCHES))] == [True, False]


def test_what_came_after_the_records_of_the_test_is_not_compared() -> None:
    assert faults(read(1, *BATCHES), read(2, *BATCHES, RecordBatch(10, 12, 44))) == [(1, ""), (2, "")]


def test_an_error_of_the_broker_is_the_reason() -> None:
    gathered = read(1, BATCHES[0])
    assert not gathered.take(FetchedPartition(56, ()))
    assert "Disk error" in gathered.reason


class Logs:
    """The logs of brokers, in place of the wire: each fetch gives one batch more."""

    def __init__(self, **of_host: tuple[RecordBatch, ...]) -> None:
        self.of_host = of_host
        self.asked: list[tuple[str, dict[int, int]]] = []

    def fetch(self, host: str, port: int, topic: str, offsets: dict[int, int], *_: object, within: float) -> object:
        assert within > 0
        self.asked.append((host, dict(offsets)))
        if host not in self.of_host:
            raise UnreachableError(f"{host}:{port} does not answer: timed out")
        return {
            partition: FetchedPartition(0, tuple(b for b in self.of_host[host] if b.first >= offset)[:1])
            for partition, offset in offsets.items()
        }


def test_each_broker_is_read_until_it_has_no_more_and_is_given_up_after_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = Logs(h1=BATCHES)
    monkeypatch.setattr(wire, "fetch", logs.fetch)
    monkeypatch.setattr(replica_reads, "PATIENCE", 0.2)
    begun = time.monotonic()
    reads = read_replicas(Kafka("h1:9092"), "t", {0: (0, 10)}, ALIVE, begun + 60)
    assert time.monotonic() - begun < 30
    assert [(each.broker, each.read_to, each.reason) for each in reads] == [
        (1, 10, ""),
        (2, 0, "h2:9092 does not answer: timed out"),
    ]
    assert [offsets for host, offsets in logs.asked if host == "h1"] == [{0: 0}, {0: 4}, {0: 5}]


def test_the_first_offset_of_a_partition_may_be_later(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = Logs(h1=BATCHES, h2=BATCHES)
    monkeypatch.setattr(wire, "fetch", logs.fetch)
    read_replicas(Kafka("h1:9092"), "t", {1: (5, 10)}, ALIVE, time.monotonic() + 60)
    assert logs.asked == [("h1", {1: 5}), ("h2", {1: 5})] or logs.asked == [("h2", {1: 5}), ("h1", {1: 5})]


def test_with_a_login_that_the_small_client_has_not_it_is_refused() -> None:
    kafka = Kafka("h1:9092", {"security.protocol": "SASL_SSL"})
    with pytest.raises(RefusedError, match="not available over SASL_SSL"):
        read_replicas(kafka, "t", {0: (0, 10)}, ALIVE, time.monotonic() + 60)
