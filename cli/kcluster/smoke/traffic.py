"""The steps of the proof: write through every path, hand over within a group, read everything again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from kcluster.errors import RefusedError
from kcluster.smoke.verdict import SmokeRecord, decode, encode

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message

    from kcluster.clients.kafka import Kafka

PATHS_AT_ONCE = 8
"""Producers at work together; each has a thread per broker, so a hundred at once would be too many."""
ROUNDS_ALONE = 200
"""How many rounds at most wait for their acknowledgements; enough for a p99."""
ROUNDS_AT_ONCE = 100
"""How many rounds are sent without waiting: enough to have several requests in flight, few enough for any memory."""
PARTITIONS_PER_PATH = 8
"""How many leaders one path writes to, its own first; neighbours overlap, so several paths reach each leader."""


@dataclass(frozen=True)
class WritePath:
    """One way into the cluster: a listener of one broker as the only bootstrap address."""

    number: int
    broker: int
    listener: str
    address: str

    def __str__(self) -> str:
        """The path as problems name it."""
        return f"broker {self.broker} ({f'{self.listener} {self.address}'.strip()})"


@dataclass(frozen=True)
class Undelivered:
    """A record that was sent and never acknowledged: nobody knows whether it is in the log."""

    sequence: int
    path: int
    partition: int
    reason: str


@dataclass
class ProducedRecords:
    """What became of the records that were sent."""

    acknowledged: list[SmokeRecord] = field(default_factory=list)
    undelivered: list[Undelivered] = field(default_factory=list)
    unsent: dict[int, int] = field(default_factory=dict)
    """How many records each path had no time or no way to send; a path that sent all is not in it."""
    latencies: dict[int, float] = field(default_factory=dict)
    """Seconds to the acknowledgement, by sequence, of the records that were sent one at a time."""


@dataclass(frozen=True)
class ReadRecords:
    """What a full read has seen, and the partitions it could not finish."""

    records: Sequence[SmokeRecord]
    unread: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Partition: the offset that was reached and the end that was not."""

    def covers(self, record: SmokeRecord) -> bool:
        """Whether the read got as far as this record, so that its absence means something."""
        return record.partition not in self.unread or record.offset < self.unread[record.partition][0]


@dataclass(frozen=True)
class Load:
    """What to write: so many messages of this run into the topic, whose partitions are led by these brokers."""

    topic: str
    run: str
    leaders: Mapping[int, int]
    messages: int


def write(kafka: Kafka, load: Load, paths: Sequence[WritePath], deadline: float) -> ProducedRecords:
    """Write numbered records through each path to the partitions around its own broker's.

    The first round connects. Half of the others wait for their acknowledgements, so that the latency is that of
    one record, but for no more than half of the time; the rest is sent at once, so that order is put to the test.
    """
    written, sequences = ProducedRecords(), count()
    for start in range(0, len(paths), PATHS_AT_ONCE):
        writers = [
            _Writer(kafka, load, path, len(paths), written, deadline) for path in paths[start : start + PATHS_AT_ONCE]
        ]
        _drive(writers, sequences, deadline)
    return written


def near(path: WritePath, leaders: Mapping[int, int]) -> list[int]:
    """The partition led by the path's own broker, and the ones after it."""
    order = sorted(leaders)
    own = next((index for index, partition in enumerate(order) if leaders[partition] == path.broker), 0)
    return [order[(own + step) % len(order)] for step in range(min(len(order), PARTITIONS_PER_PATH))]


def _drive(writers: Sequence[_Writer], sequences: Iterator[int], deadline: float) -> None:
    """Let every writer make its next step as soon as it can, until all are done or time is over."""
    while (busy := [writer for writer in writers if writer.busy]) and time.monotonic() < deadline:
        for writer in busy:
            writer.step(sequences)
    for writer in writers:
        writer.give_up()


class _Writer:
    """The idempotent producer of one path."""

    def __init__(
        self, kafka: Kafka, load: Load, path: WritePath, paths: int, written: ProducedRecords, deadline: float
    ) -> None:
        self._load, self._path = load, path
        self._partitions = near(path, load.leaders)
        self._left = max(3, -(-load.messages // (paths * len(self._partitions))))
        self._at_once = max(self._left // 2, self._left - ROUNDS_ALONE)
        now = time.monotonic()
        self._alone_until = now + (deadline - now) / 2  # a slow cluster shall have time for the others
        self._send_until = deadline - 2.0  # what is sent shall have time to be answered
        self._sent = self._waiting = 0
        self._written = written
        self._fault = ""
        self._failed = False
        self._producer = kafka.producer(
            **{
                "bootstrap.servers": path.address,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 0,
                "message.timeout.ms": max(1000, int((deadline - now) * 1000) - 500),
                "error_cb": self._note_fault,
            }
        )

    @property
    def busy(self) -> bool:
        """Whether there is something to send or to wait for."""
        return self._waiting > 0 or self._sending

    @property
    def _sending(self) -> bool:
        return self._left > 0 and not self._failed and time.monotonic() < self._send_until

    def step(self, sequences: Iterator[int]) -> None:
        """Serve the acknowledgements; when all are in, send what comes next."""
        self._producer.poll(0.002)
        if self._waiting == 0 and self._sending:
            alone = self._left > self._at_once and time.monotonic() < self._alone_until
            connected = self._sent > 0
            for _ in range(1 if alone else min(self._left, ROUNDS_AT_ONCE)):
                self._send_round(sequences, timed=alone and connected)

    def give_up(self) -> None:
        """What has no acknowledgement by now counts as undelivered."""
        if self._left:
            self._written.unsent[self._path.number] = self._left * len(self._partitions)
        self._producer.purge()
        self._producer.poll(0)
        self._producer.flush(1)

    def _send_round(self, sequences: Iterator[int], *, timed: bool) -> None:
        for partition in self._partitions:
            sequence = next(sequences)
            value = encode(self._load.run, self._path.number, sequence)
            self._sent += 1
            self._waiting += 1
            self._producer.produce(
                self._load.topic, value, partition=partition, on_delivery=self._answered(sequence, partition, timed)
            )
        self._left -= 1

    def _answered(self, sequence: int, partition: int, timed: bool) -> Any:
        """What to do with the answer to one record."""

        def note(error: KafkaError | None, message: Message) -> None:
            self._waiting -= 1
            if error is not None:
                self._failed = True
                reason = self._fault or ("no answer in time" if "PURGE" in error.name() else error.str())
                self._written.undelivered.append(Undelivered(sequence, self._path.number, partition, reason))
                return
            self._written.acknowledged.append(_record_of(self._load.run, message))
            if timed:
                self._written.latencies[sequence] = message.latency() or 0.0

        return note

    def _note_fault(self, fault: KafkaError) -> None:
        if fault.name() != "_ALL_BROKERS_DOWN":
            self._fault = fault.str()


def _record_of(run: str, message: Message) -> SmokeRecord:
    return decode(run, message.value() or b"", message.partition() or 0, message.offset() or 0)


READER = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 50,
}
"""What every reader of the proof has in common: it never commits by itself, and knows when it is at the end."""


def ends(consumer: Consumer, topic: str, partitions: Iterable[int], deadline: float) -> dict[int, int]:
    """The end offset of each partition; a leader that is just moving gets time to arrive."""
    return {partition: _end(consumer, topic, partition, deadline) for partition in partitions}


def _end(consumer: Consumer, topic: str, partition: int, deadline: float) -> int:
    from confluent_kafka import KafkaException, TopicPartition

    left = max(1.0, deadline - time.monotonic())
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=left)[1])
    except KafkaException as problem:
        raise RefusedError(
            f"the leader of partition {partition} did not tell its end within {left:.0f} s: {problem.args[0].str()}",
            resolution="kcluster health",
        ) from problem


def read(kafka: Kafka, topic: str, run: str, partitions: Iterable[int], deadline: float) -> ReadRecords:
    """Read all partitions afresh, from offset 0 to their ends."""
    found, reached, until = _read_once(kafka, topic, partitions, deadline)
    seen = Counter(partition for partition, _ in found)
    if skipped := [partition for partition, offset in reached.items() if seen[partition] < offset]:
        # A client may skip records while leaders move: lost is only what a fresh one does not find either.
        again, reached_again, _ = _read_once(kafka, topic, skipped, deadline)
        found = {place: message for place, message in found.items() if place[0] not in skipped} | again
        reached |= {partition: reached_again.get(partition, 0) for partition in skipped}
    unread = {
        partition: (reached.get(partition, 0), end)
        for partition, end in until.items()
        if reached.get(partition, 0) < end
    }
    return ReadRecords([_record_of(run, message) for message in found.values()], unread)


def _read_once(
    kafka: Kafka, topic: str, partitions: Iterable[int], deadline: float
) -> tuple[dict[tuple[int, int], Message], dict[int, int], dict[int, int]]:
    """The messages by their places, how far each partition was read, and how far it goes."""
    from confluent_kafka import TopicPartition

    consumer = kafka.consumer(**READER, **{"group.id": f"{topic}-reader"})
    reached: dict[int, int] = {}
    try:
        until = ends(consumer, topic, partitions, deadline)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in until])
        messages = until_reached(consumer, until, reached, deadline)
        found = {(message.partition() or 0, message.offset() or 0): message for message in messages}
    finally:
        consumer.close()
    return found, reached, until


def until_reached(
    consumer: Consumer, goals: Mapping[int, int], reached: dict[int, int], deadline: float
) -> Iterator[Message]:
    """The messages that arrive until each partition has reached its goal; `reached` says how far each one is."""
    while any(reached.get(partition, 0) < goal for partition, goal in goals.items()) and time.monotonic() < deadline:
        for message in consumer.consume(500, 0.1):
            partition, offset, error = message.partition() or 0, message.offset() or 0, message.error()
            if error is None:
                reached[partition] = offset + 1
                yield message
            elif error.name() == "_PARTITION_EOF":
                reached[partition] = offset
