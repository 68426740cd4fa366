"""The records of the smoke test: written through every path, read again from the beginning."""

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

CONCURRENT_PATHS = 8
"""Producers at work together; each has a thread per broker, so a hundred at once would be too many."""
ROUNDS_AWAITED = 200
"""How many rounds at most are acknowledged before the next one is sent; enough for a p99."""
ROUNDS_IN_FLIGHT = 100
"""How many rounds are sent without waiting: enough to have several requests in flight, few enough for any memory."""
PARTITIONS_PER_PATH = 8
"""How many leaders one path writes to, its own first; neighbours overlap, so several paths reach each leader."""


@dataclass(frozen=True)
class WritePath:
    """A listener of one broker, used as the only bootstrap address."""

    number: int
    broker: int
    listener: str
    address: str

    def __str__(self) -> str:
        """The path as problems name it."""
        return f"broker {self.broker} ({f'{self.listener} {self.address}'.strip()})"


@dataclass(frozen=True)
class Undelivered:
    """A record that was sent and never acknowledged; it may be in the log or not."""

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
    """How many records each path could not send in time; a path that sent all is not in it."""
    latencies: dict[int, float] = field(default_factory=dict)
    """Seconds to the acknowledgement, by sequence, of the records that were sent one at a time."""


@dataclass(frozen=True)
class ReadRecords:
    """The records of a full read, and the partitions it could not finish."""

    records: Sequence[SmokeRecord]
    unread: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Partition: the offset that was reached and the end that was not."""

    @property
    def spans(self) -> dict[int, tuple[int, int]]:
        """The first offset that was read of each partition, and the one behind the last."""
        offsets: dict[int, list[int]] = {}
        for record in self.records:
            offsets.setdefault(record.partition, []).append(record.offset)
        return {partition: (min(read), max(read) + 1) for partition, read in offsets.items()}

    def covers(self, record: SmokeRecord) -> bool:
        """Whether the read got as far as this record, so that its absence means something."""
        return record.partition not in self.unread or record.offset < self.unread[record.partition][0]


@dataclass(frozen=True)
class Load:
    """What to write: the number of messages, the run's id, the topic, and the leader of each partition."""

    topic: str
    run: str
    leaders: Mapping[int, int]
    messages: int


def write(kafka: Kafka, load: Load, paths: Sequence[WritePath], deadline: float) -> ProducedRecords:
    """Write numbered records through each path to the partitions around its own broker's.

    The first round connects. Half of the others are sent one at a time, so that the latency is that of one record,
    but for no more than half of the time; the rest is sent without waiting, which tests the order.
    Blocks until the deadline at most.
    """
    produced, sequences = ProducedRecords(), count()
    for start in range(0, len(paths), CONCURRENT_PATHS):
        writers = [
            _Writer(kafka, load, path, len(paths), produced, deadline)
            for path in paths[start : start + CONCURRENT_PATHS]
        ]
        _drive(writers, sequences, deadline)
    return produced


def target_partitions(path: WritePath, leaders: Mapping[int, int]) -> list[int]:
    """The partitions a path writes to: the one its own broker leads, and the ones after it."""
    order = sorted(leaders)
    own = next((index for index, partition in enumerate(order) if leaders[partition] == path.broker), 0)
    return [order[(own + step) % len(order)] for step in range(min(len(order), PARTITIONS_PER_PATH))]


def _drive(writers: Sequence[_Writer], sequences: Iterator[int], deadline: float) -> None:
    """Step every writer until all are done or the deadline has passed."""
    while (busy := [writer for writer in writers if writer.busy]) and time.monotonic() < deadline:
        for writer in busy:
            writer.step(sequences)
    for writer in writers:
        writer.give_up()


class _Writer:
    """The idempotent producer of one path."""

    def __init__(
        self, kafka: Kafka, load: Load, path: WritePath, paths: int, produced: ProducedRecords, deadline: float
    ) -> None:
        self._load, self._path = load, path
        self._partitions = target_partitions(path, load.leaders)
        self._left = max(3, -(-load.messages // (paths * len(self._partitions))))
        self._in_flight = max(self._left // 2, self._left - ROUNDS_AWAITED)
        now = time.monotonic()
        self._await_until = now + (deadline - now) / 2  # leaves a slow cluster time for the other half
        self._send_until = deadline - 2.0  # leaves time for the last acknowledgements
        self._sent = self._waiting = 0
        self._produced = produced
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
        """Poll for acknowledgements; when all have arrived, send the next rounds."""
        self._producer.poll(0.002)
        if self._waiting == 0 and self._sending:
            one_at_a_time = self._left > self._in_flight and time.monotonic() < self._await_until
            connected = self._sent > 0
            for _ in range(1 if one_at_a_time else min(self._left, ROUNDS_IN_FLIGHT)):
                self._send_round(sequences, timed=one_at_a_time and connected)

    def give_up(self) -> None:
        """Count what is not sent or not acknowledged by now as unsent and undelivered."""
        if self._left:
            self._produced.unsent[self._path.number] = self._left * len(self._partitions)
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
                self._load.topic,
                value,
                partition=partition,
                on_delivery=self._delivery_callback(sequence, partition, timed),
            )
        self._left -= 1

    def _delivery_callback(self, sequence: int, partition: int, timed: bool) -> Any:
        """The callback that notes the acknowledgement or the error of one record."""

        def note(error: KafkaError | None, message: Message) -> None:
            self._waiting -= 1
            if error is not None:
                self._failed = True
                reason = self._fault or ("no acknowledgement in time" if "PURGE" in error.name() else error.str())
                self._produced.undelivered.append(Undelivered(sequence, self._path.number, partition, reason))
                return
            self._produced.acknowledged.append(_record_of(self._load.run, message))
            if timed:
                self._produced.latencies[sequence] = message.latency() or 0.0

        return note

    def _note_fault(self, fault: KafkaError) -> None:
        if fault.name() != "_ALL_BROKERS_DOWN":
            self._fault = fault.str()


def _record_of(run: str, message: Message) -> SmokeRecord:
    return decode(run, message.value() or b"", message.partition() or 0, message.offset() or 0)


READER_CONFIG = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 50,
}
"""The config of every consumer of the smoke test: no automatic commits, an event at the end of a partition."""


def ends(consumer: Consumer, topic: str, partitions: Iterable[int], deadline: float) -> dict[int, int]:
    """The end offset of each partition; waits until the deadline for a leader, and raises RefusedError without one."""
    return {partition: _end(consumer, topic, partition, deadline) for partition in partitions}


def _end(consumer: Consumer, topic: str, partition: int, deadline: float) -> int:
    from confluent_kafka import KafkaException, TopicPartition

    timeout = max(1.0, deadline - time.monotonic())
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=timeout)[1])
    except KafkaException as problem:
        raise RefusedError(
            f"no end offset of partition {partition} within {timeout:.0f} s: {problem.args[0].str()}",
            resolution="kcluster health",
        ) from problem


def read(kafka: Kafka, topic: str, run: str, partitions: Iterable[int], deadline: float) -> ReadRecords:
    """Read all partitions with a new consumer, from offset 0 to their ends; blocks until the deadline at most."""
    messages, reached, until = _read_once(kafka, topic, partitions, deadline)
    counts = Counter(partition for partition, _ in messages)
    if skipped := [partition for partition, offset in reached.items() if counts[partition] < offset]:
        # A client may skip records while leaders move: only what a second one does not read either is lost.
        again, reached_again, _ = _read_once(kafka, topic, skipped, deadline)
        messages = {place: message for place, message in messages.items() if place[0] not in skipped} | again
        reached |= {partition: reached_again.get(partition, 0) for partition in skipped}
    unread = {
        partition: (reached.get(partition, 0), end)
        for partition, end in until.items()
        if reached.get(partition, 0) < end
    }
    return ReadRecords([_record_of(run, message) for message in messages.values()], unread)


def _read_once(
    kafka: Kafka, topic: str, partitions: Iterable[int], deadline: float
) -> tuple[dict[tuple[int, int], Message], dict[int, int], dict[int, int]]:
    """The messages by partition and offset, the offset each partition was read to, and its end."""
    from confluent_kafka import TopicPartition

    consumer = kafka.consumer(**READER_CONFIG, **{"group.id": f"{topic}-reader"})
    reached: dict[int, int] = {}
    try:
        until = ends(consumer, topic, partitions, deadline)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in until])
        arrived = until_reached(consumer, until, reached, deadline)
        messages = {(message.partition() or 0, message.offset() or 0): message for message in arrived}
    finally:
        consumer.close()
    return messages, reached, until


def until_reached(
    consumer: Consumer, goals: Mapping[int, int], reached: dict[int, int], deadline: float
) -> Iterator[Message]:
    """The messages until each partition has reached its goal or the deadline; `reached` is updated on the way."""
    while any(reached.get(partition, 0) < goal for partition, goal in goals.items()) and time.monotonic() < deadline:
        for message in consumer.consume(500, 0.02):  # it waits that long for the last of 500
            partition, offset, error = message.partition() or 0, message.offset() or 0, message.error()
            if error is None:
                reached[partition] = offset + 1
                yield message
            elif error.name() == "_PARTITION_EOF":
                reached[partition] = offset
