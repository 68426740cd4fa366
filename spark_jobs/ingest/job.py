"""Topics to Parquet, Delta or Iceberg, each record once; refused records to a dead-letter topic with the reason.

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
from spark_jobs.runtime.counting import counted
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
    "set when_data_is_gone: continue in the job's file to continue without them; `kcluster job audit` lists them"
)
UNSTABLE_RULES_ADVICE = (
    "the rules were changed during a batch, or depend on the clock or on random values: restore or correct the rules in"
    " the job's file, then submit the job again"
)

DEAD_LETTERS_PER_FILE = 10_000
"""Dead letters in one file, which is what the driver holds in memory at once."""

KEPT_COUNTS = 100
"""Batches whose counts are kept for the progress: as many as Spark keeps."""


def run(settings: IngestSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Run the job to its end; returns "finished" (`once`: all records present at the start are read) or "stopped"."""
    from pyspark.errors import StreamingQueryException

    spark = spark_session(settings.name, {**sinks.spark_settings(settings.sink), **settings.spark})
    table, checkpoint = Folder(spark, settings.sink.path), Folder(spark, settings.checkpoint)
    sink = sinks.make_sink(spark, settings.sink, table)
    client = {"bootstrap.servers": bootstrap, **job_dir.client_settings("librdkafka")}
    checkpoint_owner.claim(checkpoint, job_dir.checkpoint_identity(), prechecks.last_batch(sink)[0])
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
    """Offset ranges that are deleted but not read; empty when the job continues without them or no broker answers."""
    from confluent_kafka import KafkaException

    if settings.when_data_is_gone != "stop":
        return []
    try:
        return TopicReader(settings.name, client).deleted_ranges(batch_offsets.next_offsets(checkpoint))
    except KafkaException:  # Spark's own error is reported then
        return []


def ingest_batch(
    records: DataFrame, number: int, settings: IngestSettings, sink: Sink, checkpoint: Folder, dead_letters: DeadLetters
) -> dict[str, Any]:
    """Process one batch, or finish one that an earlier run began: write, journal, publish, send dead letters."""
    table, checkpoint_id = sink.folder, batch_offsets.checkpoint_id(checkpoint)
    batch_journal.compact(table, number)
    batch = table.load(batch_journal.description_file(number))
    if batch is None:
        batch_offsets.sync_planned(checkpoint, number)
        batch = _write_batch(records, number, settings, sink, checkpoint)
        table.save(batch_journal.description_file(number), batch)
    if batch["checkpoint"] != checkpoint_id:
        raise RefusedJobError(
            f"sink {table.path} already has a batch {number} of another checkpoint", prechecks.RESTART_ADVICE
        )
    sink.publish(batch)
    if batch["dead"] and table.exists(_dead_letters_folder(number)):  # they are removed only after they were sent
        dead_letters.send(lambda: _read_dead_letters(records.sparkSession, table, number), number)
    table.remove(f"{batch_journal.STAGED}/{number}")
    table.remove(_dead_letters_folder(number))
    return batch  # type: ignore[no-any-return]


def _write_batch(
    records: DataFrame, number: int, settings: IngestSettings, sink: Sink, checkpoint: Folder
) -> dict[str, Any]:
    """Write the rows, and dead letters to files in the table's folder; returns the batch's journal entry."""
    judged, checkpoint_id = transform.with_reasons(records, settings), batch_offsets.checkpoint_id(checkpoint)
    written = sink.write(transform.rows(judged), checkpoint_id, number)
    ranges = batch_offsets.batch_ranges(checkpoint, number)
    read, table, dead = batch_offsets.count_offsets(ranges), sink.folder, 0
    if written.rows < read:  # fewer rows than offsets: dead letters, or offsets without a record
        fit = _write_dead_letters(judged, table.path_of(_dead_letters_folder(number)))
        dead = records.sparkSession.read.parquet(table.path_of(_dead_letters_folder(number))).count()
        _check_stable_rules(written.rows, fit, settings)
    sink.sync(checkpoint.modified(f"offsets/{number}"))
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


def _write_dead_letters(judged: DataFrame, folder: str) -> int:
    """Write the dead letters; returns how many records are accepted in this second pass."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as sql

    observation = Observation()
    observed = judged.observe(observation, sql.count_if(sql.col("_reason").isNull()).alias("fit"))
    dead_letters = transform.dead_letters(observed).write.option("maxRecordsPerFile", DEAD_LETTERS_PER_FILE)
    dead_letters.mode("overwrite").parquet(folder)
    return int(observation.get["fit"])


def _check_stable_rules(rows: int, fit: int, settings: IngestSettings) -> None:
    """Refuse a batch whose passes accept different records: they would be lost, or be rows and dead letters."""
    # Fewer is possible where retention deletes records between the passes and the job continues without them.
    if fit > rows or (fit < rows and settings.when_data_is_gone == "stop"):
        raise RefusedJobError(
            f"{counted(rows, 'row')} written, but {fit:,} accepted in the second pass over the batch",
            UNSTABLE_RULES_ADVICE,
        )


def _read_dead_letters(spark: SparkSession, table: Folder, number: int) -> Iterator[Any]:
    """The dead letters of a batch, one file at a time."""
    for name in table.files(_dead_letters_folder(number)):
        if name.endswith(".parquet"):
            yield from transform.with_text_timestamps(spark.read.parquet(table.path_of(name))).toLocalIterator()


def _dead_letters_folder(number: int) -> str:
    return f"{batch_journal.STAGED}/{number}-dead"


def _counts(batch: dict[str, Any]) -> dict[str, Any]:
    """The counts of a batch for its progress."""
    # Spark counts a record for each pass, so the number of records is taken from the journal too.
    return {"records": batch["read"], "rows": batch["rows"], "dead": batch["dead"]}
