"""The replicas of the smoke test: each broker is read directly, so that followers show that they have the records."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from kcluster.clients import wire
from kcluster.clients.kafka import Kafka
from kcluster.errors import UnreachableError
from kcluster.smoke.temporary_topic import replicas

PATIENCE = 10.0
"""Seconds without a further record after which a replica counts as incomplete: every replica in sync had them all
when they were acknowledged, and others are about to catch up."""
_AT_ONCE = 16


@dataclass
class ReplicaRead:
    """What one broker has of one partition."""

    partition: int
    broker: int
    read_to: int
    """The offset behind the last record that was read."""
    end: int
    """The offset behind the last record that its leader has."""
    batches: dict[int, wire.RecordBatch] = field(default_factory=dict)
    reason: str = ""
    """Why the last fetch gave nothing; empty when the broker says that there is no more."""

    @property
    def complete(self) -> bool:
        """Whether it was read as far as its leader."""
        return self.read_to >= self.end

    def take(self, fetched: wire.FetchedPartition) -> int:
        """Add what was fetched; how many offsets further that is."""
        from confluent_kafka import KafkaError

        self.reason = KafkaError(fetched.error).str() if fetched.error else ""
        before = self.read_to
        self.batches |= {batch.first: batch for batch in fetched.batches if batch.first < self.end}
        self.read_to = max([before, *(batch.last + 1 for batch in fetched.batches)])
        return self.read_to - before


@dataclass(frozen=True)
class ReplicaVerdict:
    """One replica of the temporary topic, judged."""

    partition: int
    broker: int
    read_to: int
    end: int
    fault: str
    """Empty when it has every record that was read from its leader, unchanged."""


def read_replicas(
    kafka: Kafka, topic: str, spans: Mapping[int, tuple[int, int]], alive: Mapping[int, str], deadline: float
) -> list[ReplicaRead]:
    """Read these offsets (first, end) of each partition from each broker that has a replica of it.

    Blocks until the deadline at most. RefusedError where the small client cannot log in.
    """
    held: defaultdict[int, list[ReplicaRead]] = defaultdict(list)
    for partition, brokers in enumerate(replicas(sorted(alive))):
        for broker in brokers if partition in spans else ():
            held[broker].append(ReplicaRead(partition, broker, *spans[partition]))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda broker: _read_broker(kafka, topic, alive[broker], held[broker], deadline), list(held)))
    return [read for broker in sorted(held) for read in held[broker]]


def _read_broker(kafka: Kafka, topic: str, address: str, reads: Sequence[ReplicaRead], deadline: float) -> None:
    """Read these replicas of one broker until all are complete, nothing more comes, or the deadline."""
    give_up = min(deadline, time.monotonic() + PATIENCE)
    while (left := [read for read in reads if not read.complete]) and time.monotonic() < give_up:
        # A log that cannot be read ends the connection for all of a request, so they are asked for one by one then.
        fetched = _fetch(kafka, topic, address, left, give_up)
        if fetched or sum(_fetch(kafka, topic, address, [read], give_up) for read in left):
            give_up = min(deadline, time.monotonic() + PATIENCE)
        else:
            time.sleep(0.05)


def _fetch(kafka: Kafka, topic: str, address: str, left: Sequence[ReplicaRead], give_up: float) -> int:
    """Fetch once; how many offsets came."""
    host, _, port = address.rpartition(":")
    offsets = {read.partition: read.read_to for read in left}
    within = max(0.5, min(wire.WITHIN, give_up - time.monotonic()))
    try:
        answer = wire.fetch(host, int(port), topic, offsets, kafka.config, within=within)
    except UnreachableError as problem:
        for read in left:
            read.reason = problem.message
        return 0
    return sum(read.take(answer[read.partition]) for read in left if read.partition in answer)


def judge_replicas(reads: Sequence[ReplicaRead], leaders: Mapping[int, int]) -> list[ReplicaVerdict]:
    """Judge whether each replica has what the leader of its partition has."""
    originals = {read.partition: read for read in reads if read.broker == leaders[read.partition]}
    return [
        ReplicaVerdict(
            read.partition, read.broker, read.read_to, read.end, next(_faults(read, originals[read.partition]), "")
        )
        for read in reads
    ]


def _faults(read: ReplicaRead, original: ReplicaRead) -> Iterator[str]:
    if not read.complete:
        yield f"read only to offset {read.read_to} of {read.end}: {read.reason or 'it has no more records'}"
    elif original.complete:
        for first in sorted(original.batches.keys() | read.batches.keys()):
            if read.batches.get(first) != original.batches.get(first):
                yield f"differs from that of the leader, broker {original.broker}, at offset {first}"
