"""Topics to Parquet, Delta or Iceberg, each record once; what does not fit to a dead-letter topic with its reason.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py ingest.yml --bootstrap HOST:PORT --once
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest import batch_journal, prechecks, sinks
from spark_jobs.ingest.dead_letters import DeadLetters
from spark_jobs.ingest.topic_reader import TopicReader
from spark_jobs.records import transform
from spark_jobs.runtime import batch_offsets, checkpoint_owner, kafka_source
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder
from spark_jobs.runtime.session import spark_session
from spark_jobs.runtime.streaming_query import BatchGate, watch
from spark_jobs.settings.common import interval

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_jobs.ingest.sinks.base import Sink
    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.ingest import IngestSettings


DELETED_ADVICE = (
    "to go on without them set when_data_is_gone: continue in the job's file; `kcluster job audit` names them"
)
UNSTABLE_RULES_ADVICE = (
    "the rules were changed while a batch was in hand, or they depend on the clock or on chance: put back what"
    " the job's file said, or correct it, and submit the job again"
)

DEAD_LETTERS_PER_FILE = 10_000
"""Dead letters in one file: the most that are in the driver's memory at once."""

KEPT_COUNTS = 100
"""How many of the last batches are remembered for their lines of progress: Spark remembers as many."""


def run(settings: IngestSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Run the job until it has read what is there (`once`), or until it is stopped."""
    from pyspark.errors import StreamingQueryException

    spark = spark_session(settings.name, {**sinks.spark_settings(settings.sink), **settings.spark})
    table, checkpoint = Folder(spark, settings.sink.path), Folder(spark, settings.checkpoint)
    sink = sinks.make_sink(spark, settings.sink, table)
    client = {"bootstrap.servers": bootstrap, **job_dir.client_settings("librdkafka")}
    checkpoint_owner.claim(checkpoint, job_dir.checkpoint_identity())
    prechecks.check(spark, settings, sink, checkpoint)
    gate = BatchGate()
    counts: dict[int, dict[str, Any]] = {}

    def process(records: DataFrame, number: int) -> None:
        with gate.batch():
            dead_letters = DeadLetters(
                settings.name, batch_offsets.checkpoint_id(checkpoint), settings.dead_letters, client
            )
            counts[number] = _counts(ingest_batch(records, number, settings, sink, checkpoint, dead_letters))
            counts.pop(number - KEPT_COUNTS, None)

    records = kafka_source.read_stream(spark, settings, bootstrap, job_dir.client_settings("java"))
    trigger = {"availableNow": True} if once else {"processingTime": interval(settings.every)}
    writer = records.writeStream.foreachBatch(process).trigger(**trigger)
    query = writer.queryName(settings.name).option("checkpointLocation", settings.checkpoint).start()
    job_dir.write_state("running", web=spark.sparkContext.uiWebUrl)
    try:
        return watch(query, job_dir, gate, lambda number: counts.get(number, {}))
    except StreamingQueryException as problem:
        if deleted := _deleted(settings, client, checkpoint):
            raise RefusedJobError(
                f"records were deleted before they were read: {', '.join(deleted)}", DELETED_ADVICE
            ) from problem
        raise


def _deleted(settings: IngestSettings, client: dict[str, str], checkpoint: Folder) -> list[str]:
    """What is deleted of what would be read next, where that ends a job and the brokers say it."""
    from confluent_kafka import KafkaException

    if settings.when_data_is_gone != "stop":
        return []
    try:
        return TopicReader(settings.name, client).deleted_ranges(batch_offsets.next_offsets(checkpoint))
    except KafkaException:  # it is no reason to tell nothing of what Spark failed with
        return []


def ingest_batch(
    records: DataFrame, number: int, settings: IngestSettings, sink: Sink, checkpoint: Folder, dead_letters: DeadLetters
) -> dict[str, Any]:
    """One batch, also one that a run before began: written, described, published, and its dead letters sent."""
    table, checkpoint_id = sink.folder, batch_offsets.checkpoint_id(checkpoint)
    batch_journal.compact(table, number)
    batch = table.load(batch_journal.description_file(number))
    if batch is None:
        batch = _write_batch(records, number, settings, sink, checkpoint)
        table.save(batch_journal.description_file(number), batch)
    if batch["checkpoint"] != checkpoint_id:
        raise RefusedJobError(
            f"the sink {table.path} has a batch {number} of another checkpoint", prechecks.RESTART_ADVICE
        )
    sink.publish(batch)
    if batch["dead"] and table.exists(_dead_letters_folder(number)):  # they go away only after they were sent
        dead_letters.send(lambda: _read_dead_letters(records.sparkSession, table, number), number)
    table.remove(f"{batch_journal.STAGED}/{number}")
    table.remove(_dead_letters_folder(number))
    return batch  # type: ignore[no-any-return]


def _write_batch(
    records: DataFrame, number: int, settings: IngestSettings, sink: Sink, checkpoint: Folder
) -> dict[str, Any]:
    """Write the rows, and the dead letters beside the table if there are any; what the batch consists of."""
    judged, checkpoint_id = transform.with_reasons(records, settings), batch_offsets.checkpoint_id(checkpoint)
    written = sink.write(transform.rows(judged), checkpoint_id, number)
    ranges = batch_offsets.batch_ranges(checkpoint, number)
    read, table, dead = batch_offsets.count_offsets(ranges), sink.folder, 0
    if written.rows < read:  # records are missing among the rows: dead letters, or offsets without a record
        fit = _write_dead_letters(judged, table.path_of(_dead_letters_folder(number)))
        dead = records.sparkSession.read.parquet(table.path_of(_dead_letters_folder(number))).count()
        _check_stable_rules(written.rows, fit, settings)
    return {
        "first": number,
        "batch": number,
        "checkpoint": checkpoint_id,
        "at": time.time(),
        "ranges": ranges,
        "read": read,
        "rows": written.rows,
        "dead": dead,
        "files": written.files,
    }


def _write_dead_letters(judged: DataFrame, place: str) -> int:
    """Write the dead letters, and count at this second look at the records how many fit."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as sql

    observation = Observation()
    observed = judged.observe(observation, sql.count_if(sql.col("_reason").isNull()).alias("fit"))
    dead_letters = transform.dead_letters(observed).write.option("maxRecordsPerFile", DEAD_LETTERS_PER_FILE)
    dead_letters.mode("overwrite").parquet(place)
    return int(observation.get["fit"])


def _check_stable_rules(rows: int, fit: int, settings: IngestSettings) -> None:
    """Stop when a record fitted at one look and not at the other: it would be lost, or be a dead letter as well."""
    # Fewer may also be what retention left for the second look, where the file says to go on without the rest.
    if fit > rows or (fit < rows and settings.when_data_is_gone == "stop"):
        raise RefusedJobError(
            f"{rows} records of the batch were written as rows, and at a second look {fit} fit", UNSTABLE_RULES_ADVICE
        )


def _read_dead_letters(spark: SparkSession, table: Folder, number: int) -> Iterator[Any]:
    """The dead letters of a batch, a file at a time."""
    for name in table.files(_dead_letters_folder(number)):
        if name.endswith(".parquet"):
            yield from transform.with_text_timestamps(spark.read.parquet(table.path_of(name))).toLocalIterator()


def _dead_letters_folder(number: int) -> str:
    return f"{batch_journal.STAGED}/{number}-dead"


def _counts(batch: dict[str, Any]) -> dict[str, Any]:
    """What a batch's description adds to its progress."""
    # Spark counts a record once for each time it was read, so the description is asked for the records too.
    return {"records": batch["read"], "rows": batch["rows"], "dead": batch["dead"]}
