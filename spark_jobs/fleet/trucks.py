"""The demo's producer: trucks that drive around and tell where they are. Plain Python; no Spark.

python spark_jobs/run.py trucks.yml --bootstrap HOST:PORT [--once] [--folder FOLDER]
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from spark_jobs.fleet.simulation import reports

if TYPE_CHECKING:
    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.trucks import TrucksSettings

WITHIN = 8.0
"""Seconds in which a broker answers, or the job fails and says so."""

FLUSH_WITHIN = 60.0
"""Seconds that the last records have to arrive, once the job ends."""

POLL, CHUNK = 0.2, 2000
"""Seconds between two looks at the clock and the wish to stop; records between them at most."""

PRODUCER_DEFAULTS = {
    "enable.idempotence": True,  # with it comes acks=all
    "partitioner": "murmur2_random",  # as Java does: a truck stays in one partition, whoever writes
    "compression.type": "lz4",
    "linger.ms": 20,
    "queue.buffering.max.messages": 200_000,
    "delivery.report.only.error": True,
}


def run(settings: TrucksSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Write until the wished number is reached (`once`: until each truck has reported), or until it is stopped."""
    (topic,) = settings.topics
    limit = settings.records or (settings.trucks if once else 0)
    records = reports(settings.trucks, settings.every, settings.faulty, settings.seed, _begin(settings, limit))
    with DeliveringProducer(
        topic, {"bootstrap.servers": bootstrap, **job_dir.client_settings("librdkafka"), **settings.kafka}
    ) as delivery:
        job_dir.write_state("running")
        reporter = _ProgressReporter(job_dir, delivery)
        state = _write(records, limit, 0.0 if once else _gap(settings), delivery, reporter)
    reporter.report()
    return state


class DeliveringProducer:
    """A producer that ends only when every record has arrived, and fails when one has not."""

    def __init__(self, topic: str, client: Mapping[str, Any]) -> None:
        from confluent_kafka import Producer

        self.topic = topic
        self.sent = 0
        self._failed: list[str] = []
        # Its own log would repeat in lines of its own what the exception says.
        self._producer = Producer({**PRODUCER_DEFAULTS, **client, "on_delivery": self._on_delivery, "log_level": 2})
        self._require_topic(client["bootstrap.servers"])

    def __enter__(self) -> DeliveringProducer:
        """Begin."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Wait for the last records, also when the job is cut short."""
        left = self._producer.flush(FLUSH_WITHIN)
        if left:
            raise ConnectionError(f"{left} of {self.sent} records were not taken within {FLUSH_WITHIN:.0f} s")
        self.check()

    def send(self, key: bytes, value: bytes) -> None:
        """Hand over one record; waits while the queue is full."""
        while True:
            try:
                self._producer.produce(self.topic, value, key)
                break
            except BufferError:
                self._producer.poll(0.05)
        self.sent += 1

    def check(self, seconds: float = 0.0) -> None:
        """Wait, and raise when a record was lost."""
        self._producer.poll(seconds)
        if self._failed:
            raise ConnectionError(f"{len(self._failed)} of {self.sent} records were not delivered: {self._failed[0]}")

    @property
    def in_flight(self) -> int:
        """Records handed over that no broker has confirmed yet."""
        return len(self._producer)

    def _on_delivery(self, error: Any, _record: Any) -> None:
        if error:
            self._failed.append(error.str())

    def _require_topic(self, bootstrap: str) -> None:
        """Whether the brokers answer and have the topic."""
        from confluent_kafka import KafkaException

        try:
            topics = self._producer.list_topics(timeout=WITHIN).topics
        except KafkaException as problem:
            raise ConnectionError(f"{bootstrap}: {problem.args[0].str()}") from problem
        if self.topic not in topics:
            raise LookupError(f"UNKNOWN_TOPIC: {self.topic} is not there")


def _write(
    records: Iterator[tuple[bytes, bytes]],
    limit: int,
    gap: float,
    delivery: DeliveringProducer,
    reporter: _ProgressReporter,
) -> str:
    """Write each record when it is due; "finished" when the limit is reached."""
    begin = time.monotonic()
    while not limit or delivery.sent < limit:
        if reporter.job_dir.stop_requested():
            return "stopped"
        for key, value in islice(records, _due(begin, gap, limit, delivery.sent)):
            delivery.send(key, value)
        delivery.check(min(POLL, max(0.0, begin + delivery.sent * gap - time.monotonic())))
        reporter.report_each_second()
    return "finished"


def _due(begin: float, gap: float, limit: int, sent: int) -> int:
    """How many records to write now, so that the clock and the wish to stop are looked at often enough."""
    due = CHUNK if gap == 0 else min(CHUNK, int((time.monotonic() - begin) / gap) + 1 - sent)
    return max(0, min(due, limit - sent) if limit else due)


class _ProgressReporter:
    """A line of progress for each second, and one for the rest."""

    def __init__(self, job_dir: JobDir, delivery: DeliveringProducer) -> None:
        self.job_dir, self._delivery = job_dir, delivery
        self._at, self._before, self._lines = time.monotonic(), 0, 0

    def report_each_second(self) -> None:
        """The line of the second that is over."""
        if time.monotonic() - self._at >= 1:
            self.report()

    def report(self) -> None:
        """The line of the time since the last one."""
        seconds = time.monotonic() - self._at
        arrived = self._delivery.sent - self._delivery.in_flight
        count = arrived - self._before
        rate = round(count / seconds, 1)
        self.job_dir.append_progress(
            batch=self._lines, records=count, seconds=round(seconds, 3), rate=rate, lag=0, total=arrived
        )
        self.job_dir.add_facts(records=arrived)
        self._at, self._before, self._lines = time.monotonic(), arrived, self._lines + 1


def _gap(settings: TrucksSettings) -> float:
    """Seconds between two records."""
    if settings.rate == 0:
        return settings.every / settings.trucks
    return 1 / settings.rate if settings.rate > 0 else 0.0


def _begin(settings: TrucksSettings, limit: int) -> float:
    """The first record's time, in seconds since 1970.

    A producer that writes faster than time passes begins early enough that its clock does not overtake ours.
    """
    if settings.begin:
        return datetime.fromisoformat(settings.begin).timestamp()
    if settings.rate == 0:
        return time.time()
    return time.time() - (limit * settings.every / settings.trucks if limit else 30 * 86400)
