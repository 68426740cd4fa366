"""Reading records of a topic, in order within each partition, and handing them out as bytes."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from kcluster.clients.kafka import ANSWER_WITHIN, Kafka, topics
from kcluster.errors import RefusedError, UsageError
from kcluster.interrupt import Interrupt
from kcluster.model.record import Record, RecordFormatter
from kcluster.operations.produce import existing_topic

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, TopicPartition

BATCH = 5_000
"""Records that are read, shown and written at a time."""
COMMIT_EVERY = 1.0
"""Seconds between two commits of a group."""

_SETTINGS = {
    "enable.partition.eof": True,
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "allow.auto.create.topics": False,
    # One second is the default: it makes a reader that is faster than the network wait for nothing.
    "fetch.queue.backoff.ms": 2,
    "fetch.wait.max.ms": 100,
    "queued.min.messages": 20_000,
    "queued.max.messages.kbytes": 8_192,
}
_PASSING = ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE", "_MAX_POLL_EXCEEDED")


@dataclass(frozen=True)
class StartPosition:
    """Where reading begins in each partition: at its beginning, its end, an offset, the last N, or a time."""

    at: str = "end"
    """`beginning`, `end`, `offset`, `last` or `time`."""
    number: int = 0
    """The offset, how many, or milliseconds since 1970."""


@dataclass(frozen=True)
class ConsumeRequest:
    """What is read of a topic, and when it is enough."""

    start: StartPosition = StartPosition()
    partitions: Sequence[int] = ()
    """None named means all."""
    group: str | None = None
    """Read as a member of this group: what was committed decides where to start, `start` where nothing was."""
    count: int | None = None
    exit_at_end: bool = False
    """Stop at what was the end when reading began."""


def consume(kafka: Kafka, topic: str, reading: ConsumeRequest, shown: RecordFormatter | None, out: BinaryIO) -> int:
    """Write records until it is enough, and return how many; without `shown` the bare values, which is fastest."""
    partitions = _chosen(topic, existing_topic(kafka, topic), reading.partitions)
    with Interrupt() as interrupt:
        reader = RecordReader(kafka, topic, reading, partitions)
        try:
            reader.open()
            while not interrupt.seen and not reader.finished:
                batch = reader.batch()
                if batch:
                    out.write(_lines(batch, shown))
                    out.flush()
                    reader.written(batch)
                elif _reader_gone(out):
                    raise BrokenPipeError
        finally:
            reader.close()
        if interrupt.seen:
            raise KeyboardInterrupt
    return reader.count


class RecordReader:
    """A consumer of one topic that knows when it has read enough, and what it may commit."""

    def __init__(self, kafka: Kafka, topic: str, reading: ConsumeRequest, partitions: Sequence[int]) -> None:
        self._kafka, self._topic, self._reading, self._partitions = kafka, topic, reading, partitions
        self.count = 0
        self._assigned: set[int] | None = None
        self._done: set[int] = set()
        self._ends: dict[int, int] = {}
        self._positions: dict[int, int] = {}
        self._uncommitted = False
        self._committed_at = time.monotonic()
        self._consumer: Consumer = kafka.consumer(**{**_SETTINGS, **self._group_settings(), **kafka.config})

    def open(self) -> None:
        """Begin to read: directly, without waiting for a rebalance, or as a member of a group."""
        if self._reading.exit_at_end:
            self._ends = self._offsets("latest")
        if self._reading.group:
            self._consumer.subscribe([self._topic], on_assign=self._on_assign, on_revoke=self._on_revoke)
            return
        starts = self._starts()
        self._learn_leaders()
        self._assigned = set(starts)
        # Nothing comes of a partition that is read to its end already: the broker would keep us waiting for it.
        self._done = {part for part, offset in starts.items() if offset >= self._ends.get(part, offset + 1)}
        self._consumer.assign([self._at(part, starts[part]) for part in sorted(self._assigned - self._done)])

    @property
    def finished(self) -> bool:
        """Whether all that was asked for has been read."""
        if self._reading.count is not None and self.count >= self._reading.count:
            return True
        return self._reading.exit_at_end and self._assigned is not None and self._assigned <= self._done

    def batch(self) -> list[Message]:
        """The next records, as many as are there; empty when nothing came for a moment."""
        first = self._consumer.poll(0.1)
        if first is None:
            self._commit_now_and_then()
            return []
        wanted = min(BATCH, BATCH if self._reading.count is None else self._reading.count - self.count)
        batch = [first, *self._consumer.consume(wanted - 1, 0)] if wanted > 1 else [first]
        errors = [message for message in batch if message.error()]
        if errors:
            batch = [message for message in batch if not message.error()]
            for message in errors:
                self._hear(message, batch)
        return self._up_to_the_end(batch) if self._ends else batch

    def written(self, batch: Sequence[Message]) -> None:
        """Remember that these records are out: only now may a group say that it has them."""
        self.count += len(batch)
        if self._reading.group:
            self._positions |= {part: offset + 1 for part, offset in _last_offsets(batch).items()}
            self._uncommitted = True
            self._commit_now_and_then()

    def close(self) -> None:
        """Commit what was written and leave."""
        try:
            self._commit()
        finally:
            self._consumer.close()

    def _group_settings(self) -> dict[str, Any]:
        reset = "earliest" if self._reading.start.at == "beginning" else "latest"
        return {"group.id": self._reading.group or "kcluster-consume", "auto.offset.reset": reset}

    def _starts(self) -> dict[int, int]:
        """The first offset to read in each partition. The end is asked for now, so that it does not move."""
        from confluent_kafka import OFFSET_BEGINNING

        start = self._reading.start
        if start.at == "beginning":
            # Following needs no answer first; for an end the beginning shows which partitions are empty.
            return self._offsets("earliest") if self._ends else dict.fromkeys(self._partitions, OFFSET_BEGINNING)
        ends = self._ends or self._offsets("latest")
        if start.at == "end":
            return ends
        if start.at == "time":
            found = self._offsets(start.number)
            return {part: found[part] if found[part] >= 0 else ends[part] for part in ends}
        firsts = self._offsets("earliest")
        wanted = {part: ends[part] - start.number if start.at == "last" else start.number for part in ends}
        return {part: min(max(wanted[part], firsts[part]), ends[part]) for part in ends}

    def _learn_leaders(self) -> None:
        """Get the metadata first: what is assigned before its leader is known is tried again after 0.5 s only."""
        from confluent_kafka import KafkaException

        try:
            self._consumer.list_topics(timeout=ANSWER_WITHIN)
        except KafkaException as problem:
            raise self._kafka.translate(problem) from problem

    def _offsets(self, where: str | int) -> dict[int, int]:
        found = topics.offsets(self._kafka, [self._at(part) for part in self._partitions], where)
        offsets = {part: offset for (_, part), offset in found.items()}
        missing = sorted(set(self._partitions) - set(offsets))
        if missing:
            raise RefusedError(
                f"partition {missing[0]} of {self._topic} has no leader that can be reached",
                resolution=f"kcluster topic describe {self._topic}",
            )
        return offsets

    def _at(self, part: int, offset: int | None = None) -> TopicPartition:
        from confluent_kafka import TopicPartition

        return TopicPartition(self._topic, part) if offset is None else TopicPartition(self._topic, part, offset)

    def _hear(self, message: Message, batch: Sequence[Message]) -> None:
        """An event between the records: the end of a partition, a passing trouble, or a real one."""
        error: Any = message.error()
        if error.name() == "_PARTITION_EOF":
            self._at_end(message.partition() or 0, message.offset() or 0, batch)
        elif error.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"):
            raise RefusedError(f"topic {self._topic} was deleted")
        elif error.name() not in _PASSING and not error.retriable():
            raise self._kafka.translate(Exception(error))

    def _at_end(self, part: int, offset: int, batch: Sequence[Message]) -> None:
        """A partition is read to its end. A group keeps its place also where there was nothing to read."""
        self._done.add(part)
        if self._reading.group and part not in self._positions and part not in _last_offsets(batch):
            self._positions[part] = min(offset, self._ends.get(part, offset))
            self._uncommitted = True

    def _up_to_the_end(self, batch: list[Message]) -> list[Message]:
        """The batch without what came after the end; partitions read up to it are done."""
        last = _last_offsets(batch)
        self._done |= {part for part, offset in last.items() if offset + 1 >= self._ends[part]}
        if all(offset < self._ends[part] for part, offset in last.items()):
            return batch
        return [message for message in batch if (message.offset() or 0) < self._ends[message.partition() or 0]]

    def _on_assign(self, consumer: Consumer, parts: Sequence[TopicPartition]) -> None:
        self._assigned = {part.partition for part in parts}
        self._done -= self._assigned

    def _on_revoke(self, consumer: Consumer, parts: Sequence[TopicPartition]) -> None:
        self._commit()
        self._positions.clear()
        self._assigned = None

    def _commit_now_and_then(self) -> None:
        if self._uncommitted and time.monotonic() - self._committed_at > COMMIT_EVERY:
            self._commit(wait=False)

    def _commit(self, *, wait: bool = True) -> None:
        from confluent_kafka import KafkaException

        if not self._positions:
            return
        offsets = [self._at(part, offset) for part, offset in self._positions.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=not wait)  # type: ignore[call-overload]
        except KafkaException as problem:
            raise self._kafka.translate(problem) from problem
        self._uncommitted, self._committed_at = False, time.monotonic()


def _chosen(topic: str, existing: Sequence[int], wanted: Sequence[int]) -> Sequence[int]:
    unknown = sorted(set(wanted) - set(existing))
    if unknown:
        raise UsageError(f"{topic} has no partition {unknown[0]}: it has {existing[0]} to {existing[-1]}")
    return sorted(set(wanted)) or existing


def _last_offsets(batch: Sequence[Message]) -> dict[int, int]:
    """The last offset of each partition in the batch; a later record of a partition replaces an earlier one."""
    from confluent_kafka import Message

    partition: Callable[[Message], Any] = Message.partition
    return dict(zip(map(partition, batch), map(Message.offset, batch), strict=True))


def _lines(batch: Sequence[Message], shown: RecordFormatter | None) -> bytes:
    """The bytes to write. Bare values are joined without a function call for each."""
    if shown is not None:
        return b"".join(map(shown, map(_record, batch)))
    values: list[Any] = [message.value() for message in batch]
    if None in values:
        values = [b"null" if value is None else value for value in values]
    values.append(b"")
    return b"\n".join(values)


def _record(message: Message) -> Record:
    from confluent_kafka import TIMESTAMP_NOT_AVAILABLE

    kind, milliseconds = message.timestamp()
    return Record(
        value=message.value(),
        key=message.key(),
        headers=tuple(message.headers() or ()),  # type: ignore[arg-type]
        partition=message.partition(),
        offset=message.offset(),
        timestamp=None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds,
    )


def _reader_gone(out: BinaryIO) -> bool:
    """Whether the reader of a pipe has left: nobody would tell us before the next record comes."""
    watch = select.poll()
    watch.register(out.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0))
