"""The demo producer: simulated trucks that report their positions. Plain Python, no Spark.

python spark_jobs/run.py trucks.yml --bootstrap HOST:PORT [--once] [--folder FOLDER]
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from spark_jobs.fleet.simulation import reports
from spark_jobs.runtime.counting import counted

if TYPE_CHECKING:
    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.trucks import TrucksSettings

WITHIN = 8.0
"""Seconds for a broker to answer, then the job fails."""

FLUSH_WITHIN = 60.0
"""Seconds to deliver the last records when the job ends."""

POLL, CHUNK = 0.2, 2000
"""Seconds between two checks of the clock and the request to stop; most records between them."""

PRODUCER_DEFAULTS = {
    "enable.idempotence": True,  # with it comes acks=all
    "partitioner": "murmur2_random",  # as Java clients: a truck stays in one partition with any producer
    "compression.type": "lz4",
    "linger.ms": 20,
    "queue.buffering.max.messages": 200_000,
    "delivery.report.only.error": True,
}


def run(settings: TrucksSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Write `records` records (`once` without: one for each truck); returns "finished" or "stopped"."""
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
    """A producer whose context ends when every record is delivered, and raises when one is not."""

    def __init__(self, topic: str, client: Mapping[str, Any]) -> None:
        from confluent_kafka import Producer

        self.topic = topic
        self.sent = 0
        self._failed: list[str] = []
        # Without: log lines that repeat the exception.
        self._producer = Producer({**PRODUCER_DEFAULTS, **client, "on_delivery": self._on_delivery, "log_level": 2})
        self._require_topic(client["bootstrap.servers"])

    def __enter__(self) -> DeliveringProducer:
        """The producer itself."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Deliver the last records, also when the job is stopped; ConnectionError when that fails."""
        left = self._producer.flush(FLUSH_WITHIN)
        if left:
            raise ConnectionError(
                f"{left:,} of {counted(self.sent, 'record')} not acknowledged within {FLUSH_WITHIN:.0f} s"
            )
        self.check()

    def send(self, key: bytes, value: bytes) -> None:
        """Queue one record; blocks while the queue is full."""
        while True:
            try:
                self._producer.produce(self.topic, value, key)
                break
            except BufferError:
                self._producer.poll(0.05)
        self.sent += 1

    def check(self, seconds: float = 0.0) -> None:
        """Poll delivery reports for some seconds; ConnectionError when a record was not delivered."""
        self._producer.poll(seconds)
        if self._failed:
            raise ConnectionError(
                f"{len(self._failed):,} of {counted(self.sent, 'record')} not delivered: {self._failed[0]}"
            )

    @property
    def in_flight(self) -> int:
        """Queued records that are not acknowledged yet."""
        return len(self._producer)

    def _on_delivery(self, error: Any, _record: Any) -> None:
        if error:
            self._failed.append(error.str())

    def _require_topic(self, bootstrap: str) -> None:
        """Raise when no broker answers or the topic does not exist."""
        from confluent_kafka import KafkaException

        try:
            topics = self._producer.list_topics(timeout=WITHIN).topics
        except KafkaException as problem:
            raise ConnectionError(f"{bootstrap}: {problem.args[0].str()}") from problem
        if self.topic not in topics:
            raise LookupError(f"UNKNOWN_TOPIC: topic {self.topic} does not exist")


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
    """How many records to write now, few enough to check the clock and the request to stop often."""
    due = CHUNK if gap == 0 else min(CHUNK, int((time.monotonic() - begin) / gap) + 1 - sent)
    return max(0, min(due, limit - sent) if limit else due)


class _ProgressReporter:
    """Reports progress once a second, and at the end."""

    def __init__(self, job_dir: JobDir, delivery: DeliveringProducer) -> None:
        self.job_dir, self._delivery = job_dir, delivery
        self._at, self._before, self._lines = time.monotonic(), 0, 0

    def report_each_second(self) -> None:
        """Report when a second has passed."""
        if time.monotonic() - self._at >= 1:
            self.report()

    def report(self) -> None:
        """Report the records since the last report."""
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

    A producer faster than real time starts early enough that its clock does not pass the current time.
    """
    if settings.begin:
        return datetime.fromisoformat(settings.begin).timestamp()
    if settings.rate == 0:
        return time.time()
    return time.time() - (limit * settings.every / settings.trucks if limit else 30 * 86400)
