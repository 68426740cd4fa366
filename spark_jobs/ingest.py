"""Topics to Parquet, Delta or Iceberg, each record once; what does not fit to a dead-letter topic with its reason.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py ingest.yml --bootstrap HOST:PORT --once
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spark_jobs import journal, offsets, owner, ready, sinks, source, transform
from spark_jobs.causes import Refused
from spark_jobs.folder import Folder
from spark_jobs.letters import Letters
from spark_jobs.running import Batches, follow
from spark_jobs.session import session
from spark_jobs.settings.common import interval
from spark_jobs.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_jobs.desk import Desk
    from spark_jobs.settings.ingest import Settings
    from spark_jobs.sinks.base import Sink


GONE = "to go on without them set when_data_is_gone: continue in the job's file; `kcluster job audit` names them"

LETTERS = 10_000
"""Dead letters in one file: the most that are in the driver's memory at once."""


def run(settings: Settings, bootstrap: str, desk: Desk, *, once: bool) -> str:
    """Run the job until it has read what is there (`once`), or until it is stopped."""
    from pyspark.errors import StreamingQueryException

    spark = session(settings.name, {**sinks.needs(settings.sink), **settings.spark})
    table, checkpoint = Folder(spark, settings.sink.path), Folder(spark, settings.checkpoint)
    sink = sinks.of(spark, settings.sink, table)
    client = {"bootstrap.servers": bootstrap, **desk.clients("librdkafka")}
    owner.claim(checkpoint, desk.owner())
    ready.check(spark, settings, sink, checkpoint)
    batches = Batches()

    def take(records: DataFrame, number: int) -> None:
        with batches.one():
            letters = Letters(settings.name, offsets.identity(checkpoint), settings.dead_letters, client)
            ingest(records, number, settings, sink, checkpoint, letters)

    records = source.stream(spark, settings, bootstrap, desk.clients("java"))
    trigger = {"availableNow": True} if once else {"processingTime": interval(settings.every)}
    writer = records.writeStream.foreachBatch(take).trigger(**trigger)
    query = writer.queryName(settings.name).option("checkpointLocation", settings.checkpoint).start()
    desk.say("running", web=spark.sparkContext.uiWebUrl)
    try:
        return follow(query, desk, batches, lambda number: _counts(table, number))
    except StreamingQueryException as problem:
        if gone := Topics(settings.name, client).gone(offsets.reached(checkpoint)):
            raise Refused(f"records were deleted before they were read: {', '.join(gone)}", GONE) from problem
        raise


def ingest(
    records: DataFrame, number: int, settings: Settings, sink: Sink, checkpoint: Folder, letters: Letters
) -> None:
    """One batch, also one that a run before began: written, described, published, and its dead letters sent."""
    table = sink.folder
    journal.fold(table, number)
    batch = table.load(journal.description(number))
    if batch is None:
        batch = _written(records, number, settings, sink, checkpoint)
        table.save(journal.description(number), batch)
    sink.publish(batch)
    if batch["dead"] and table.exists(_dead(number)):  # they go away only after they were sent
        letters.send(lambda: _letters(records.sparkSession, table, number), number)
    table.remove(f"{journal.STAGED}/{number}")
    table.remove(_dead(number))


def _written(records: DataFrame, number: int, settings: Settings, sink: Sink, checkpoint: Folder) -> dict[str, Any]:
    """Write the rows, and the dead letters beside the table if there are any; what the batch consists of."""
    judged, life = transform.judged(records, settings), offsets.identity(checkpoint)
    written = sink.write(transform.rows(judged), life, number)
    ranges = offsets.covered(checkpoint, number)
    read, table, dead = offsets.count(ranges), sink.folder, 0
    if written.rows < read:  # records are missing among the rows: dead letters, or offsets without a record
        letters = transform.dead_letters(judged).write.option("maxRecordsPerFile", LETTERS)
        letters.mode("overwrite").parquet(table.within(_dead(number)))
        dead = records.sparkSession.read.parquet(table.within(_dead(number))).count()
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


def _letters(spark: SparkSession, table: Folder, number: int) -> Iterator[Any]:
    """The dead letters of a batch, a file at a time."""
    for name in table.files(_dead(number)):
        if name.endswith(".parquet"):
            yield from spark.read.parquet(table.within(name)).toLocalIterator()


def _dead(number: int) -> str:
    return f"{journal.STAGED}/{number}-dead"


def _counts(table: Folder, number: int) -> dict[str, Any]:
    """What a batch's description adds to its progress."""
    batch = table.load(journal.description(number)) or {}
    # Spark counts a record once for each time it was read, so the description is asked for the records too.
    names = {"records": "read", "rows": "rows", "dead": "dead"}
    return {name: batch[key] for name, key in names.items() if key in batch}
