"""The newest position of each truck in a file that is updated with every batch, for the dashboard.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py latest.yml --bootstrap HOST:PORT

Spark keeps no state: it computes the newest position of each truck in a batch, and the driver keeps the newest of all.
That is a maximum, so repeating a batch after a crash changes nothing.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_jobs.fleet import positions
from spark_jobs.fleet.positions import TruckPosition
from spark_jobs.records import transform
from spark_jobs.runtime import batch_offsets, checkpoint_owner, kafka_source
from spark_jobs.runtime.folder import Folder
from spark_jobs.runtime.session import spark_session
from spark_jobs.runtime.streaming_query import BatchGate, watch
from spark_jobs.settings.common import interval, milliseconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.latest import LatestSettings

SHUFFLE = {"spark.sql.shuffle.partitions": "4"}
"""A row for each truck is little data: with Spark's default of 200 tasks a batch of 2 s would take 10 s."""

WITHIN = 5.0
"""Seconds for the brokers to say how far the topics are; without an answer nothing is located of the lag."""


def run(settings: LatestSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Run the job to its end; returns "finished" (`once`: all records present at the start are read) or "stopped"."""
    spark = spark_session(settings.name, {**SHUFFLE, **settings.spark})
    lag_reader = LagReader({"bootstrap.servers": bootstrap, **job_dir.client_settings("librdkafka")})
    checkpoint = Folder(spark, settings.checkpoint)
    checkpoint_owner.claim(checkpoint, job_dir.checkpoint_identity())
    positions_file = PositionsFile(settings, checkpoint, lag_reader)
    gate = BatchGate()

    def process(records: DataFrame, number: int) -> None:
        with gate.batch():
            positions_file.apply_batch(records, number)

    records = kafka_source.read_stream(spark, settings, bootstrap, job_dir.client_settings("java"))
    trigger = {"availableNow": True} if once else {"processingTime": interval(settings.every)}
    writer = records.writeStream.foreachBatch(process).trigger(**trigger)
    query = writer.queryName(settings.name).option("checkpointLocation", settings.checkpoint).start()
    job_dir.write_state("running", web=spark.sparkContext.uiWebUrl)
    return watch(query, job_dir, gate, positions_file.counts)


class PositionsFile:
    """The positions of all trucks, in memory and in latest.json."""

    def __init__(self, settings: LatestSettings, checkpoint: Folder, lag_reader: LagReader) -> None:
        self.settings = settings
        self.folder = Path(settings.sink.path)
        self.checkpoint = checkpoint
        self.lag_reader = lag_reader
        self.known = positions.load(self.folder)
        self._counts: dict[int, dict[str, int]] = {}

    def apply_batch(self, records: DataFrame, number: int) -> None:
        """Merge the positions of a batch and write the file."""
        judged = transform.with_reasons(records, self.settings)
        rows = positions.latest_in_batch(judged, self.settings.fields).collect()
        located = [row for row in rows if row["id"] is not None]
        fresh = [TruckPosition(id=row["id"], **row["last"].asDict()) for row in located]
        merged = positions.merge(self.known, fresh)
        self.known = positions.without_expired(merged, milliseconds(self.settings.forget), time.time())
        taken = sum(row["records"] for row in located)
        skipped = sum(row["records"] for row in rows) - taken
        self._counts = {number - 1: self._counts.get(number - 1, {}), number: {"rows": taken, "skipped": skipped}}
        lag = self.lag_reader.lag(batch_offsets.end_offsets(self.checkpoint, number))
        positions.write(self.folder, self.known, batch=number, as_of=time.time(), lag=lag)

    def counts(self, number: int) -> dict[str, Any]:
        """What to say of a batch: records that located a position, and others."""
        return {**self._counts.get(number, {}), "trucks": len(self.known)}


class LagReader:
    """Reads the lag of a batch from the brokers."""

    def __init__(self, client: dict[str, str]) -> None:
        from confluent_kafka.admin import AdminClient

        self._admin = AdminClient({**client, "log_level": 2})

    def lag(self, read: batch_offsets.EndOffsets) -> int | None:
        """The number of records after these offsets; None when no broker answers in time."""
        from confluent_kafka import KafkaException, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        ends = {(topic, int(number)): end for topic, parts in read.items() for number, end in parts.items()}
        request = {TopicPartition(*partition): OffsetSpec.latest() for partition in ends}  # type: ignore[no-untyped-call]
        if not request:
            return 0
        answers = self._admin.list_offsets(request, request_timeout=WITHIN)
        try:
            newest: dict[Any, int] = {
                (partition.topic, partition.partition): answer.result().offset for partition, answer in answers.items()
            }
        except KafkaException:
            return None
        return sum(max(0, newest[partition] - end) for partition, end in ends.items())
