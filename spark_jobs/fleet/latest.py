"""Where each truck is now: a small file that is brought up to date with every batch, for the dashboard.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py latest.yml --bootstrap HOST:PORT

Nothing is kept in Spark: of each batch comes the newest position of each truck, and the driver keeps the newest of
all. That is a maximum, so a batch that is done again after a crash changes nothing.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_jobs.fleet import positions
from spark_jobs.fleet.positions import TruckPosition
from spark_jobs.ingest import transform
from spark_jobs.runtime import batch_offsets, checkpoint_owner, kafka_source
from spark_jobs.runtime.folder import Folder
from spark_jobs.runtime.session import session
from spark_jobs.runtime.streaming_query import Batches, follow
from spark_jobs.settings.common import interval, milliseconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.latest import LatestSettings

SHUFFLE = {"spark.sql.shuffle.partitions": "4"}
"""A row for each truck is little: with Spark's 200 parts a batch of two seconds would take ten."""

WITHIN = 5.0
"""Seconds for the brokers to say how far the topics are; without an answer nothing is told of the lag."""


def run(settings: LatestSettings, bootstrap: str, desk: JobDir, *, once: bool) -> str:
    """Run the job until it has read what is there (`once`), or until it is stopped."""
    spark = session(settings.name, {**SHUFFLE, **settings.spark})
    topics = TopicTrackers({"bootstrap.servers": bootstrap, **desk.clients("librdkafka")})
    checkpoint = Folder(spark, settings.checkpoint)
    checkpoint_owner.claim(checkpoint, desk.owner())
    board = PositionsFile(settings, checkpoint, topics)
    batches = Batches()

    def take(records: DataFrame, number: int) -> None:
        with batches.one():
            board.take(records, number)

    records = kafka_source.stream(spark, settings, bootstrap, desk.clients("java"))
    trigger = {"availableNow": True} if once else {"processingTime": interval(settings.every)}
    writer = records.writeStream.foreachBatch(take).trigger(**trigger)
    query = writer.queryName(settings.name).option("checkpointLocation", settings.checkpoint).start()
    desk.say("running", web=spark.sparkContext.uiWebUrl)
    return follow(query, desk, batches, board.counts)


class PositionsFile:
    """All positions, in memory and in the file."""

    def __init__(self, settings: LatestSettings, checkpoint: Folder, topics: TopicTrackers) -> None:
        self.settings = settings
        self.folder = Path(settings.sink.path)
        self.checkpoint = checkpoint
        self.topics = topics
        self.known = positions.load(self.folder)
        self._counts: dict[int, dict[str, int]] = {}

    def take(self, records: DataFrame, number: int) -> None:
        """Bring the positions up to date with a batch."""
        judged = transform.judged(records, self.settings)
        rows = positions.newest(judged, self.settings.fields).collect()
        told = [row for row in rows if row["id"] is not None]
        fresh = [TruckPosition(id=row["id"], **row["last"].asDict()) for row in told]
        merged = positions.merged(self.known, fresh)
        self.known = positions.recent(merged, milliseconds(self.settings.forget), time.time())
        taken = sum(row["records"] for row in told)
        skipped = sum(row["records"] for row in rows) - taken
        self._counts = {number - 1: self._counts.get(number - 1, {}), number: {"rows": taken, "skipped": skipped}}
        lag = self.topics.behind(batch_offsets.ends(self.checkpoint, number))
        positions.write(self.folder, self.known, batch=number, as_of=time.time(), lag=lag)

    def counts(self, number: int) -> dict[str, Any]:
        """What to say of a batch: records that told a position, and others."""
        return {**self._counts.get(number, {}), "trucks": len(self.known)}


class TopicTrackers:
    """How far the topics are."""

    def __init__(self, client: dict[str, str]) -> None:
        from confluent_kafka.admin import AdminClient

        self._admin = AdminClient({**client, "log_level": 2})

    def behind(self, read: batch_offsets.Ends) -> int | None:
        """How many records came since; None when no broker says so in time."""
        from confluent_kafka import KafkaException, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        ends = {(topic, int(number)): end for topic, parts in read.items() for number, end in parts.items()}
        asked = {TopicPartition(*place): OffsetSpec.latest() for place in ends}  # type: ignore[no-untyped-call]
        if not asked:
            return 0
        answers = self._admin.list_offsets(asked, request_timeout=WITHIN)
        try:
            newest: dict[Any, int] = {
                (place.topic, place.partition): answer.result().offset for place, answer in answers.items()
            }
        except KafkaException:
            return None
        return sum(max(0, newest[place] - end) for place, end in ends.items())
