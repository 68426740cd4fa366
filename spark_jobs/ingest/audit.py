"""The audit: each record that an `ingest` read is in its table or among its dead letters, exactly once.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py job.json --bootstrap HOST:PORT --folder FOLDER --audit
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest import batch_journal, sinks
from spark_jobs.ingest.offset_sets import FULL, SPAN, OffsetSet, PartitionAudit
from spark_jobs.ingest.topic_reader import TopicReader
from spark_jobs.runtime import batch_offsets, checkpoint_owner, durable
from spark_jobs.runtime.counting import counted
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder
from spark_jobs.runtime.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.ingest import IngestSettings

NO_CHECKPOINT_ADVICE = "a new job creates it before its first batch; else check `checkpoint` in the job's file"

Partitions = dict[tuple[str, int], PartitionAudit]


def run(settings: IngestSettings, bootstrap: str, job_dir: JobDir) -> bool:
    """Audit the job and write audit.json; returns whether every record is accounted for."""
    spark = spark_session(f"{settings.name}-audit", {**sinks.spark_settings(settings.sink), **settings.spark})
    topics = TopicReader(settings.name, {**job_dir.client_settings("librdkafka"), "bootstrap.servers": bootstrap})
    result = audit(spark, settings, topics)
    write(job_dir.folder, result)
    return bool(result["ok"])


def write(folder: Path, result: dict[str, Any]) -> None:
    """Write audit.json into the job directory atomically."""
    durable.write(folder / "audit.json", json.dumps(result, indent=1))


def audit(spark: SparkSession, settings: IngestSettings, topics: TopicReader) -> dict[str, Any]:
    """The content of audit.json: the accounts of the partitions and all problems; refused without a checkpoint."""
    table, checkpoint = Folder(spark, settings.sink.path), Folder(spark, settings.checkpoint)
    checkpoint_id = batch_offsets.checkpoint_id(checkpoint)
    if not checkpoint_id:  # without offsets nothing would be missing
        raise RefusedJobError(
            f"there is no checkpoint at {checkpoint.path}, so the offsets that were read are unknown",
            NO_CHECKPOINT_ADVICE,
        )
    committed = batch_offsets.last_committed(checkpoint)
    batches = _finished(table)
    partitions = _ranges_read(batches)
    recreated = checkpoint_owner.recreated_topics(
        checkpoint.load(checkpoint_owner.FILE) or {}, topics.topic_ids(settings.topics)
    )
    problems = [
        *recreated,
        *_of_other_checkpoints(batches, checkpoint_id),
        *_missing_batches(batches, committed),
        *_offset_gaps(batches),
    ]
    if (rows := sinks.make_sink(spark, settings.sink, table).rows()) is not None:
        _note_rows(rows, partitions, _in_progress(table, checkpoint, batches))
    own = (
        each for each in topics.dead_letter_headers(settings.dead_letters) if each.get("checkpoint") == checkpoint_id
    )
    _note_dead_letters(own, partitions)
    _note_absent_records(topics, settings, partitions)
    expired = _expired(topics, settings.dead_letters, batches, partitions.values())
    problems += [problem for partition in partitions.values() for problem in partition.problems()]
    return _result(
        list(partitions.values()), [*problems, *_unaccounted(batches, partitions.values(), expired)], expired
    )


def _result(partitions: list[PartitionAudit], problems: list[str], expired: int) -> dict[str, Any]:
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return {
        "ok": not problems,
        "partitions": [each.report() for each in sorted(partitions, key=lambda one: (one.topic, one.partition))],
        "cause": f"{problems[0]}{more}" if problems else "",
        "problems": problems,
        "expired": expired,
    }


def _finished(table: Folder) -> list[dict[str, Any]]:
    """The finished batches: journaled and no longer staged. The job may be running."""
    described = batch_journal.batches(table)
    staged = {name.split("/")[2].removesuffix("-dead") for name in table.files(batch_journal.STAGED)}
    return [batch for batch in described if str(batch["batch"]) not in staged]


def _in_progress(table: Folder, checkpoint: Folder, done: list[dict[str, Any]]) -> dict[tuple[str, int], OffsetSet]:
    """Offsets of batches in progress: their rows may be in the table already and are not audited."""
    number = batch_offsets.last_planned(checkpoint)
    begun = [{"batch": number, "ranges": batch_offsets.batch_ranges(checkpoint, number)}] if number >= 0 else []
    before, now = _ranges_read(done), _ranges_read([*batch_journal.batches(table), *begun])
    return {key: partition.read.difference(_partition_of(before, *key).read) for key, partition in now.items()}


def _ranges_read(batches: Iterable[dict[str, Any]]) -> Partitions:
    """The offsets that these batches read of each partition."""
    partitions: Partitions = {}
    for topic, partition, start, end in _spans(batches):
        _partition_of(partitions, topic, partition).read.add_range(start, end)
    return partitions


def _spans(batches: Iterable[dict[str, Any]]) -> Iterator[tuple[str, int, int, int]]:
    for batch in batches:
        for topic, ranges in batch["ranges"].items():
            for partition, (start, end) in ranges.items():
                yield topic, int(partition), start, end


def _partition_of(partitions: Partitions, topic: str, partition: int) -> PartitionAudit:
    return partitions.setdefault((topic, partition), PartitionAudit(topic, partition))


def _of_other_checkpoints(batches: list[dict[str, Any]], checkpoint_id: str) -> Iterator[str]:
    """Problems: batches of another checkpoint."""
    for batch in batches:
        if batch["checkpoint"] != checkpoint_id:
            yield f"{_batches(batch['first'], batch['batch'])} in the table: of another checkpoint"


def _missing_batches(batches: list[dict[str, Any]], committed: int) -> Iterator[str]:
    """Problems: batches that are not in the journal."""
    expected = 0
    for batch in batches:
        if batch["first"] > expected:
            yield f"{_batches(expected, batch['first'] - 1)}: not in the journal"
        expected = batch["batch"] + 1
    if committed >= expected:
        yield f"{_batches(expected, committed)}: not in the journal"


def _batches(first: int, last: int) -> str:
    return f"batch {first}" if first == last else f"batches {first}-{last}"


def _offset_gaps(batches: list[dict[str, Any]]) -> Iterator[str]:
    """Problems: offsets between two batches that were read by none or by both."""
    ends: dict[tuple[str, int], int] = {}
    for topic, partition, start, end in _spans(batches):
        before = ends.get((topic, partition), start)
        if before != start:
            what = "no batch read offsets" if before < start else "two batches read offsets"
            yield f"{topic} partition {partition}: {what} {min(before, start)}-{max(before, start) - 1}"
        ends[topic, partition] = max(before, end)


def _note_rows(rows: DataFrame, partitions: Partitions, in_progress: dict[tuple[str, int], OffsetSet]) -> None:
    """Add the rows of the table to the accounts, without those in progress."""
    repeated = 0
    for topic, number, bucket, count, bits in _bitmaps(rows).toLocalIterator():
        bitmap = FULL if bits is None else int.from_bytes(bits, "little")
        _partition_of(partitions, topic, number).rows.buckets[bucket] = bitmap
        repeated += count - bitmap.bit_count()
    if repeated:
        for topic, number, offset in _repeated_offsets(rows):
            _partition_of(partitions, topic, number).repeated.add(offset)
    for key, unfinished in in_progress.items():
        if (partition := partitions.get(key)) is not None:
            partition.rows = partition.rows.difference(unfinished)
            partition.repeated = {offset for offset in partition.repeated if offset not in unfinished}
            if not (partition.read.buckets or partition.rows.buckets):
                del partitions[key]  # only batches in progress


def _bitmaps(rows: DataFrame) -> DataFrame:
    """For each SPAN offsets the number of rows and a bitmap of the offsets; null when all bits are set."""
    from pyspark.sql import functions as sql

    # Spark's bitmaps begin at 1.
    keys = "_topic, _partition, bitmap_bucket_number(_offset + 1) - 1 as bucket"
    grouped = rows.selectExpr(*keys.split(", "), "bitmap_bit_position(_offset + 1) as bit").groupBy(
        "_topic", "_partition", "bucket"
    )
    counted = grouped.agg(sql.count("*").alias("count"), sql.bitmap_construct_agg("bit").alias("bits"))
    bits = sql.when(sql.bitmap_count("bits") < SPAN, sql.col("bits"))
    return counted.select("_topic", "_partition", "bucket", "count", bits)


def _repeated_offsets(rows: DataFrame) -> list[Any]:
    """The first offsets with more than one row."""
    from pyspark.sql import functions as sql

    counted = rows.groupBy("_topic", "_partition", "_offset").count().where(sql.col("count") > 1).drop("count")
    return counted.orderBy("_topic", "_partition", "_offset").limit(1000).collect()


def _note_dead_letters(headers: Iterable[dict[str, str]], partitions: Partitions) -> None:
    """Add the dead letters to the accounts."""
    for each in headers:
        partition, offset = partitions.get((each["topic"], int(each["partition"]))), int(each["offset"])
        # Others are of a batch in progress.
        if partition is not None and offset in partition.read and not partition.dead.add(offset):
            partition.repeated.add(offset)


def _note_absent_records(topics: TopicReader, settings: IngestSettings, partitions: Partitions) -> None:
    """Mark missing offsets that the topic itself no longer has, or never had a record for."""
    isolation = settings.kafka.get("isolation.level", "read_committed")
    for each in partitions.values():
        if missing := each.missing():
            low, held = topics.existing(each.topic, each.partition, missing, isolation)
            each.deleted = missing.below(low)
            each.skipped = missing.difference(each.deleted).difference(held)


def _expired(
    topics: TopicReader, dead_letter_topic: str, batches: list[dict[str, Any]], partitions: Collection[PartitionAudit]
) -> int:
    """The number of dead letters that retention deleted, when they explain all missing records: they are not lost."""
    sent = sum(int(batch["dead"]) for batch in batches) - sum(len(each.dead) for each in partitions)
    missing = sum(len(each.missing()) for each in partitions) - _offsets_without_record(batches)
    lost = sum(len(each.lost()) for each in partitions)
    if not 0 < sent == missing >= lost or not topics.is_truncated(dead_letter_topic):
        return 0
    for each in partitions:
        each.expired = each.lost()
    return sent


def _unaccounted(batches: list[dict[str, Any]], partitions: Iterable[PartitionAudit], expired: int) -> Iterator[str]:
    """A problem when more records are missing than can be explained by deleted offsets."""
    unheld = sum(len(each.deleted) + len(each.skipped) + len(each.expired) for each in partitions)
    if (surplus := unheld - _offsets_without_record(batches) - expired) > 0:
        yield f"{counted(surplus, 'record')} missing from table and dead letters, written there before"


def _offsets_without_record(batches: list[dict[str, Any]]) -> int:
    """The number of offsets that had no record when they were read."""
    return sum(int(batch["read"]) - batch["rows"] - batch["dead"] for batch in batches)
