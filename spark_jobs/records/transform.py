"""From Kafka records to rows and dead letters: pure functions from DataFrame to DataFrame."""

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
"""Where a row came from: the columns by which the audit identifies each record."""

KAFKA_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
)
"""The columns of a record as Spark's Kafka source returns it."""

_BROKEN = "_broken"


def with_reasons(records: DataFrame, settings: ingest.IngestSettings | latest.LatestSettings) -> DataFrame:
    """Each record with its columns and its `_reason`: null for a row, else why it is a dead letter."""
    return with_columns(records, settings).withColumn("_reason", _reason(settings.format, settings.rules))


def with_columns(records: DataFrame, settings: ingest.IngestSettings | latest.LatestSettings) -> DataFrame:
    """Each record with the columns of the schema and of `columns`."""
    frame = _parts(records, settings.format)
    for name, expression in settings.columns.items():
        frame = frame.withColumn(name, sql.expr(expression))
    if "_date" in settings.sink.partition_by:
        frame = frame.withColumn("_date", sql.to_date("_timestamp"))
    return frame


def rows(records: DataFrame) -> DataFrame:
    """The accepted records, with the columns of the sink."""
    return records.where("_reason is null").drop("_reason", "_key", "_value", _BROKEN)


def dead_letters(records: DataFrame) -> DataFrame:
    """The refused records: reason, key, value and where they came from."""
    return records.where("_reason is not null").select("_reason", "_key", "_value", *COORDINATES)


def with_text_timestamps(dead_letters: DataFrame) -> DataFrame:
    """Dead letters with their timestamp as text: a wrong clock may write years after 9999, which Python cannot hold."""
    return dead_letters.withColumn("_timestamp", sql.date_format("_timestamp", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"))


def _parts(records: DataFrame, form: RecordFormat) -> DataFrame:
    """The fields of each record, and Kafka's columns with the prefix _."""
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
    # Never true, but Spark's optimizer cannot know: so it does not push a filter on the reason below the parser, which
    # would parse every record twice.
    reason = sql.when(sql.spark_partition_id() < 0, "never")
    for name, condition in _builtin_reasons(form):
        reason = reason.when(condition, name)
    for name, rule in rules.items():
        reason = reason.when(~sql.coalesce(sql.expr(rule), sql.lit(False)), name)
    return reason


def _builtin_reasons(form: RecordFormat) -> Iterator[tuple[str, Column]]:
    """Built-in reasons with their conditions, for problems that Spark's parsers ignore."""
    if form.kind == "raw":
        return
    text = sql.col("_value").cast("string")
    yield EMPTY, sql.col("_value").isNull() | (sql.length("_value") == 0)
    if form.kind != "avro":
        yield NOT_UTF8, ~sql.is_valid_utf8(text)  # the parser would replace invalid bytes by U+FFFD
    yield UNREADABLE, sql.col(_BROKEN)
    if form.unknown_fields == "reject":
        known = sql.array(*map(sql.lit, form.schema))
        yield UNKNOWN_FIELDS, sql.size(sql.array_except(sql.json_object_keys(text), known)) > 0
    numbers = [name for name, kind in form.schema.items() if kind.strip().lower() in ("double", "float", "real")]
    if numbers:  # NaN and 1e400 are parsed as NaN and infinity
        yield NO_NUMBER, reduce(or_, (~(sql.abs(sql.col(f"`{name}`")) < float("inf")) for name in numbers))
