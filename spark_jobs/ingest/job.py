"""Topics to Parquet, Delta or Iceberg, each record once; what does not fit to a dead-letter topic with its reason.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py ingest.yml --bootstrap HOST:PORT --once
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest import batch_journal, prechecks, sinks, transform
from spark_jobs.ingest.dead_letters import DeadLetters
from spark_jobs.runtime import batch_offsets, checkpoint_owner, kafka_source
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder
from spark_jobs.runtime.session import session
from spark_jobs.runtime.streaming_query import Batches, follow
from spark_jobs.runtime.topic_reader import TopicReader
from spark_jobs.settings.common import interval

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_jobs.ingest.sinks.base import Sink
    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.ingest import IngestSettings


GONE = "to go on without them set when_data_is_gone: continue in the job's file; `kcluster job audit` names them"
WAVERING = (
    "the rules were changed while a batch was in hand, or they depend on the clock or on chance: put back what"
    " the job's file said, or correct it, and submit the job again"
)

LETTERS = 10_000
"""Dead letters in one file: the most that are in the driver's memory at once."""

TOLD = 100
"""How many of the last batches are remembered for their lines of progress: Spark remembers as many."""


def run(settings: IngestSettings, bootstrap: str, desk: JobDir, *, once: bool) -> str:
    """Run the job until it has read what is there (`once`), or until it is stopped."""
    from pyspark.errors import StreamingQueryException

    spark = session(settings.name, {**sinks.needs(settings.sink), **settings.spark})
    table, checkpoint = Folder(spark, settings.sink.path), Folder(spark, settings.checkpoint)
    sink = sinks.of(spark, settings.sink, table)
    client = {"bootstrap.servers": bootstrap, **desk.clients("librdkafka")}
    checkpoint_owner.claim(checkpoint, desk.owner())
    prechecks.check(spark, settings, sink, checkpoint)
    batches = Batches()
    counts: dict[int, dict[str, Any]] = {}

    def take(records: DataFrame, number: int) -> None:
        with batches.one():
            letters = DeadLetters(settings.name, batch_offsets.identity(checkpoint), settings.dead_letters, client)
            counts[number] = _counts(ingest(records, number, settings, sink, checkpoint, letters))
            counts.pop(number - TOLD, None)

    records = kafka_source.stream(spark, settings, bootstrap, desk.clients("java"))
    trigger = {"availableNow": True} if once else {"processingTime": interval(settings.every)}
    writer = records.writeStream.foreachBatch(take).trigger(**trigger)
    query = writer.queryName(settings.name).option("checkpointLocation", settings.checkpoint).start()
    desk.say("running", web=spark.sparkContext.uiWebUrl)
    try:
        return follow(query, desk, batches, lambda number: counts.get(number, {}))
    except StreamingQueryException as problem:
        if gone := _gone(settings, client, checkpoint):
            raise RefusedJobError(f"records were deleted before they were read: {', '.join(gone)}", GONE) from problem
        raise


def _gone(settings: IngestSettings, client: dict[str, str], checkpoint: Folder) -> list[str]:
    """What is deleted of what would be read next, where that ends a job and the brokers say it."""
    from confluent_kafka import KafkaException

    if settings.when_data_is_gone != "stop":
        return []
    try:
        return TopicReader(settings.name, client).gone(batch_offsets.reached(checkpoint))
    except KafkaException:  # it is no reason to tell nothing of what Spark failed with
        return []


def ingest(
    records: DataFrame, number: int, settings: IngestSettings, sink: Sink, checkpoint: Folder, letters: DeadLetters
) -> dict[str, Any]:
    """One batch, also one that a run before began: written, described, published, and its dead letters sent."""
    table, life = sink.folder, batch_offsets.identity(checkpoint)
    batch_journal.fold(table, number)
    batch = table.load(batch_journal.description(number))
    if batch is None:
        batch = _written(records, number, settings, sink, checkpoint)
        table.save(batch_journal.description(number), batch)
    if batch["checkpoint"] != life:
        raise RefusedJobError(f"the sink {table.path} has a batch {number} of another checkpoint", prechecks.ANEW)
    sink.publish(batch)
    if batch["dead"] and table.exists(_dead(number)):  # they go away only after they were sent
        letters.send(lambda: _letters(records.sparkSession, table, number), number)
    table.remove(f"{batch_journal.STAGED}/{number}")
    table.remove(_dead(number))
    return batch  # type: ignore[no-any-return]


def _written(
    records: DataFrame, number: int, settings: IngestSettings, sink: Sink, checkpoint: Folder
) -> dict[str, Any]:
    """Write the rows, and the dead letters beside the table if there are any; what the batch consists of."""
    judged, life = transform.judged(records, settings), batch_offsets.identity(checkpoint)
    written = sink.write(transform.rows(judged), life, number)
    ranges = batch_offsets.covered(checkpoint, number)
    read, table, dead = batch_offsets.count(ranges), sink.folder, 0
    if written.rows < read:  # records are missing among the rows: dead letters, or offsets without a record
        fit = _set_aside(judged, table.within(_dead(number)))
        dead = records.sparkSession.read.parquet(table.within(_dead(number))).count()
        _agree(written.rows, fit, settings)
    return {
        "first": number,
        "batch": number,
        "checkpoint": life,
        "at": time.time(),
        "ranges": ranges,
        "read": read,
        "rows": written.rows,
        "dead": dead,
        "files": written.files,
    }


def _set_aside(judged: DataFrame, place: str) -> int:
    """Write the dead letters, and count at this second look at the records how many fit."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as sql

    look = Observation()
    seen = judged.observe(look, sql.count_if(sql.col("_reason").isNull()).alias("fit"))
    letters = transform.dead_letters(seen).write.option("maxRecordsPerFile", LETTERS)
    letters.mode("overwrite").parquet(place)
    return int(look.get["fit"])


def _agree(rows: int, fit: int, settings: IngestSettings) -> None:
    """Stop when a record fitted at one look and not at the other: it would be lost, or be a dead letter as well."""
    # Fewer may also be what retention left for the second look, where the file says to go on without the rest.
    if fit > rows or (fit < rows and settings.when_data_is_gone == "stop"):
        raise RefusedJobError(
            f"{rows} records of the batch were written as rows, and at a second look {fit} fit", WAVERING
        )


def _letters(spark: SparkSession, table: Folder, number: int) -> Iterator[Any]:
    """The dead letters of a batch, a file at a time."""
    for name in table.files(_dead(number)):
        if name.endswith(".parquet"):
            yield from transform.dated(spark.read.parquet(table.within(name))).toLocalIterator()


def _dead(number: int) -> str:
    return f"{batch_journal.STAGED}/{number}-dead"


def _counts(batch: dict[str, Any]) -> dict[str, Any]:
    """What a batch's description adds to its progress."""
    # Spark counts a record once for each time it was read, so the description is asked for the records too.
    return {"records": batch["read"], "rows": batch["rows"], "dead": batch["dead"]}
