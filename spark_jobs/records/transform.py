"""From Kafka's records to rows and dead letters: DataFrame in, DataFrame out, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from pyspark.sql import functions as sql

from spark_jobs.records import parsing
from spark_jobs.settings.common import EMPTY, NO_NUMBER, NOT_UTF8, UNKNOWN_FIELDS, UNREADABLE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_jobs.settings import ingest, latest
    from spark_jobs.settings.common import RecordFormat

COORDINATES = ("_topic", "_partition", "_offset", "_timestamp")
"""Where a row came from: the columns by which the audit knows each record."""

KAFKA_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
)
"""The columns of a record as Spark reads it."""

_BROKEN = "_broken"


def with_reasons(records: DataFrame, settings: ingest.IngestSettings | latest.LatestSettings) -> DataFrame:
    """Each record with its columns and the `_reason` why it is a dead letter; null for a row."""
    return with_columns(records, settings).withColumn("_reason", _reason(settings.format, settings.rules))


def with_columns(records: DataFrame, settings: ingest.IngestSettings | latest.LatestSettings) -> DataFrame:
    """Each record with its columns, also those that the file computes."""
    frame = _parts(records, settings.format)
    for name, expression in settings.columns.items():
        frame = frame.withColumn(name, sql.expr(expression))
    if "_date" in settings.sink.partition_by:
        frame = frame.withColumn("_date", sql.to_date("_timestamp"))
    return frame


def rows(judged: DataFrame) -> DataFrame:
    """The records that fit, as the sink holds them."""
    return judged.where("_reason is null").drop("_reason", "_key", "_value", _BROKEN)


def dead_letters(judged: DataFrame) -> DataFrame:
    """The records that do not fit: why, what they were, and where they came from."""
    return judged.where("_reason is not null").select("_reason", "_key", "_value", *COORDINATES)


def with_text_timestamps(dead_letters: DataFrame) -> DataFrame:
    """Dead letters with their time as text: Python knows no year after 9999, and a wrong clock may tell one."""
    return dead_letters.withColumn("_timestamp", sql.date_format("_timestamp", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"))


def _parts(records: DataFrame, form: RecordFormat) -> DataFrame:
    """The fields of each record, and Kafka's own under names of ours."""
    own = [
        sql.col("topic").alias("_topic"),
        sql.col("partition").alias("_partition"),
        sql.col("offset").alias("_offset"),
        sql.col("timestamp").alias("_timestamp"),
        sql.col("key").alias("_key"),
        sql.col("value").alias("_value"),
    ]
    if form.kind == "raw":
        return records.select(sql.col("key"), sql.col("value"), *own)
    return records.select(parsing.parse(form).alias(parsing.PARSED), *own).select(
        *(parsing.field(form, name) for name in form.names),
        parsing.unreadable(form).alias(_BROKEN),
        *(sql.col(name) for name in (*COORDINATES, "_key", "_value")),
    )


def _reason(form: RecordFormat, rules: Mapping[str, str]) -> Column:
    # Never true, but Spark cannot know: so it does not move a filter on the reason below the parser, which would
    # parse every record twice.
    reason = sql.when(sql.spark_partition_id() < 0, "never")
    for name, condition in _flaws(form):
        reason = reason.when(condition, name)
    for name, rule in rules.items():
        reason = reason.when(~sql.coalesce(sql.expr(rule), sql.lit(False)), name)
    return reason


def _flaws(form: RecordFormat) -> Iterator[tuple[str, Column]]:
    """What is wrong with a record whatever the job's rules are, and what Spark's parsers let pass in silence."""
    if form.kind == "raw":
        return
    text = sql.col("_value").cast("string")
    yield EMPTY, sql.col("_value").isNull() | (sql.length("_value") == 0)
    if form.kind != "avro":
        yield NOT_UTF8, ~sql.is_valid_utf8(text)  # the parser would put U+FFFD for what it cannot read
    yield UNREADABLE, sql.col(_BROKEN)
    if form.unknown_fields == "reject":
        known = sql.array(*map(sql.lit, form.schema))
        yield UNKNOWN_FIELDS, sql.size(sql.array_except(sql.json_object_keys(text), known)) > 0
    numbers = [name for name, kind in form.schema.items() if kind.strip().lower() in ("double", "float", "real")]
    if numbers:  # NaN and 1e400 are read as not-a-number and infinity
        yield NO_NUMBER, reduce(or_, (~(sql.abs(sql.col(f"`{name}`")) < float("inf")) for name in numbers))
