"""Writing records to a topic: read, send, and count what the cluster acknowledged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kcluster.clients.kafka import Kafka
from kcluster.clients.kafka.input_messages import Acks, Message, ProduceRequest, lines, messages
from kcluster.clients.kafka.topic_names import unknown
from kcluster.errors import ApplyError, ExitCode, KclusterError, RefusedError, UsageError
from kcluster.interrupt import Interrupt
from kcluster.model.record import RecordError
from kcluster.results import Block, Result, counted

if TYPE_CHECKING:
    from confluent_kafka import Producer

CHUNK = 256 * 1024
"""Bytes read and sent at a time."""
WAITING_RECORDS = 100_000
WAITING_BYTES = 32 * 1024 * 1024
"""How much may be sent and not yet acknowledged; reading waits above it, so that memory stays flat."""

_LARGEST_BATCH = 1_000_000
_SETTINGS = {
    # Java clients choose the same partition for a key; records without a key go to one partition per batch.
    "partitioner": "murmur2_random",
    "linger.ms": 10,
    "message.timeout.ms": 60_000,
    "message.max.bytes": 1_000_000_000,  # the topic says what is too large, not we
    "queue.buffering.max.messages": 10_000_000,
    "queue.buffering.max.kbytes": 2_000_000,
    "delivery.report.only.error": True,
}


@dataclass(frozen=True)
class Produced(Result):
    """How many records were sent, and how many of them the cluster acknowledged."""

    topic: str
    sent: int
    acknowledged: int | None
    """None with acks=0, where brokers do not answer."""
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """INTERRUPTED after Ctrl-C, although nothing that was read is lost."""
        return ExitCode.INTERRUPTED if self.interrupted else ExitCode.DONE

    def view(self) -> Iterable[Block]:
        """One sentence."""
        if self.acknowledged is None:
            count = f"{counted(self.sent, 'record')} sent to {self.topic}, not acknowledged (acks=0)"
        else:
            count = f"{counted(self.acknowledged, 'record')} acknowledged by {self.topic}"
        yield f"interrupted: {count}" if self.interrupted else count


def produce(kafka: Kafka, topic: str, sending: ProduceRequest, source: int) -> Produced:
    """Send every line of the source (a file descriptor), and wait for the acknowledgements."""
    sender = RecordSender(kafka, topic, sending)
    sender.open()
    with Interrupt() as interrupt:
        try:
            read = lines(_chunks(source, interrupt, sender.poll), lambda: interrupt.seen)
            for batch in messages(sending, read, sender.check):
                sender.send(batch)
        except RecordError as fault:
            sender.finish()
            raise UsageError(
                f"line {sender.sent + 1} of the input is not a record: {fault}",
                details=f"{counted(sender.sent, 'record')} before it: sent and acknowledged" if sender.sent else "",
                resolution="correct the line; kcluster produce --help shows the forms",
            ) from fault
        sender.finish()
    acknowledged = None if sending.acks is Acks.NONE else sender.sent
    return Produced(topic, sender.sent, acknowledged, interrupt.seen)


def existing_topic(kafka: Kafka, topic: str) -> Sequence[int]:
    """The partitions of a topic. An unknown one is refused and never created, as asking for it by name would."""
    topics = kafka.metadata().topics
    if topic in topics:
        return sorted(topics[topic].partitions)
    raise unknown("topic", topic, topics, f"kcluster topic create {topic}")


class RecordSender:
    """Sends records to one topic and counts those that fail; all others are acknowledged when it is finished."""

    def __init__(self, kafka: Kafka, topic: str, sending: ProduceRequest) -> None:
        self._kafka, self._topic, self._sending = kafka, topic, sending
        self.sent = 0
        self._failed = 0
        self._reason = ""
        self._resolution = ""
        self._size = 100.0
        self._producer: Producer

    def open(self) -> None:
        """Make the producer for a topic that exists."""
        # First of all, because a new idempotent producer takes half a second to get its id, whatever the cluster does.
        self._producer = self._connect(_LARGEST_BATCH)
        self._partitions = existing_topic(self._kafka, self._topic)
        if self._sending.partition is not None:
            self._refuse_unknown(self._sending.partition)
        largest = self._largest()
        if largest is not None and largest < _LARGEST_BATCH:
            self._producer = self._connect(largest)

    def _connect(self, largest: int) -> Producer:
        chosen = {
            **_SETTINGS,
            "batch.size": largest,
            "compression.type": self._sending.compression.value,
            "acks": self._sending.acks.value,
            "enable.idempotence": self._sending.acks is Acks.ALL,
        }
        return self._kafka.producer(**{**chosen, **self._kafka.config}, on_delivery=self._delivered)

    def check(self, partition: int) -> None:
        """Refuse a record's own partition when the topic does not have it."""
        if partition not in self._partitions:
            raise RecordError(f"{self._topic} has no partition {partition}: it has {_span(self._partitions)}")

    def poll(self) -> None:
        """Take delivery reports while there is nothing to send."""
        self._producer.poll(0)

    def send(self, messages: list[Message]) -> None:
        """Queue records, waiting for room first; they leave in this order."""
        self._make_room(messages)
        if self._sending.plain:
            self._send_batch(messages)
        else:
            for message in messages:
                self._send_one(message)
        self._producer.poll(0)

    def finish(self) -> None:
        """Wait until each record is acknowledged or has failed, and raise when any has failed."""
        while self._producer.flush(0.2):
            pass  # short rounds, because a second Ctrl-C is only heard between them
        if self._failed:
            raise ApplyError(
                f"{self._failed:,} of {counted(self.sent, 'record')} not acknowledged by {self._topic}",
                details=f"the first one: {self._reason}",
                resolution=self._resolution,
            )

    def _refuse_unknown(self, partition: int) -> None:
        try:
            self.check(partition)
        except RecordError as fault:
            raise UsageError(str(fault)) from fault

    def _largest(self) -> int | None:
        """The topic's largest batch: librdkafka does not split a larger one, so all of its records would fail."""
        from confluent_kafka.admin import ConfigResource, ResourceType

        resource = ConfigResource(ResourceType.TOPIC, self._topic)
        future = self._kafka.admin.describe_configs([resource], request_timeout=10)[resource]
        try:
            return int(self._kafka.wait(future)["max.message.bytes"].value)
        except RefusedError:
            return None  # writing to a topic does not need the right to read its configuration

    def _make_room(self, messages: Sequence[Message]) -> None:
        if messages:
            size = sum(len(message["value"] or b"") for message in messages) / len(messages)
            self._size = max(size, 100.0)
        most = min(WAITING_RECORDS, int(WAITING_BYTES / self._size) + 1)
        while len(self._producer) > most:
            self._producer.poll(0.05)

    def _send_batch(self, messages: list[Message]) -> None:
        queued = self._producer.produce_batch(self._topic, messages)
        self.sent += len(messages)
        if queued < len(messages):
            for message in messages:
                if "_error" in message:
                    self._fail(message["_error"], message["value"])

    def _send_one(self, message: Message) -> None:
        from confluent_kafka import KafkaException

        self.sent += 1
        try:
            self._producer.produce(self._topic, **message)
        except KafkaException as problem:
            self._fail(problem.args[0], message["value"])

    def _delivered(self, error: Any, message: Any) -> None:
        if error:
            self._fail(error, message.value())

    def _fail(self, error: Any, value: bytes | None) -> None:
        self._failed += 1
        if self._reason:
            return
        problem = self._explain(error, value)
        self._reason, self._resolution = problem.message, problem.resolution

    def _explain(self, error: Any, value: bytes | None) -> KclusterError:
        if error.name() == "MSG_SIZE_TOO_LARGE":
            size = len(value or b"")
            return RefusedError(
                f"a value of {size:,} bytes is larger than {self._topic} accepts",
                resolution=f"kcluster topic alter {self._topic} -c max.message.bytes={size + 1024}",
            )
        if error.name() == "_MSG_TIMED_OUT":
            return RefusedError(
                f"not acknowledged within a minute (acks={self._sending.acks})",
                resolution=f"kcluster health; kcluster topic describe {self._topic}",
            )
        return self._kafka.translate(Exception(error))


def _chunks(source: int, interrupt: Interrupt, idle: Callable[[], None]) -> Iterator[bytes]:
    """What the source gives, as soon as it gives it, until its end or Ctrl-C."""
    while not interrupt.seen:
        if not interrupt.readable(source, 0.1):
            idle()
            continue
        chunk = os.read(source, CHUNK)
        if not chunk:
            return
        yield chunk


def _span(partitions: Sequence[int]) -> str:
    return f"{partitions[0]} to {partitions[-1]}" if len(partitions) > 1 else "only partition 0"
