"""Checks before the first batch of an `ingest`: valid SQL, and a table and a checkpoint that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_jobs.ingest import batch_journal
from spark_jobs.ingest.sinks.parquet import is_row_file
from spark_jobs.records import transform
from spark_jobs.runtime import batch_offsets
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from spark_jobs.ingest.sinks.base import Sink
    from spark_jobs.settings.ingest import IngestSettings

SCHEMA = f"{batch_journal.JOB_FOLDER}/schema.json"
"""The file with a table's columns, partition columns and format."""

RESTART_ADVICE = "to start over, give the job a new checkpoint and a new sink.path"


def check(spark: SparkSession, settings: IngestSettings, sink: Sink, checkpoint: Folder) -> None:
    """Refuse a job that would fail or write wrong data later; creates the table and writes its columns down."""
    columns = _columns(spark, settings)
    _check_pair(sink, checkpoint)
    recorded = _check_schema(columns, settings, sink.folder)
    sink.ensure_table(columns)
    sink.folder.save(SCHEMA, recorded)


def _columns(spark: SparkSession, settings: IngestSettings) -> StructType:
    """The columns of a row; refuses SQL of the file that Spark cannot analyse."""
    from pyspark.errors import AnalysisException

    records = spark.createDataFrame([], transform.KAFKA_COLUMNS)
    try:
        opened = transform.with_columns(records, settings)
        for name, rule in settings.rules.items():
            kind = opened.selectExpr(rule).schema[0].dataType.simpleString()
            if kind != "boolean":
                raise RefusedJobError(f"rules.{name}: {rule} is of type {kind}, not boolean", "correct the job's file")
        _check_stable_rules(opened, settings)
        return transform.rows(transform.with_reasons(records, settings)).schema
    except AnalysisException as problem:
        where, what = _failing_expression(spark, settings), str(problem).strip().splitlines()[0]
        raise RefusedJobError(f"{where}: {what}", "correct the job's file") from problem


def _check_stable_rules(opened: DataFrame, settings: IngestSettings) -> None:
    """Refuse rules whose result may change: a batch is read twice, and both passes must agree."""
    unstable: set[str] = set()
    for name, expression in settings.columns.items():
        if _is_unstable(opened, expression, unstable):
            unstable.add(name)
    for name, rule in settings.rules.items():
        if _is_unstable(opened, rule, unstable):
            raise RefusedJobError(
                f"rules.{name}: {rule} depends on the clock or on random values, so it may change between two passes",
                "compare with _timestamp, the record's timestamp in Kafka",
            )


def _is_unstable(opened: DataFrame, expression: str, unstable: set[str]) -> bool:
    """Whether an expression, or a column that it uses, depends on the clock or on random values."""
    jvm: Any = opened.sparkSession._jvm
    clock = getattr(jvm.org.apache.spark.sql.catalyst.trees, "TreePattern$").__getattr__("MODULE$").CURRENT_LIKE()
    analyzed = opened.selectExpr(expression)._jdf.queryExecution().analyzed().expressions().head()
    columns = analyzed.references().iterator()
    used = set()
    while columns.hasNext():
        used.add(columns.next().name())
    return bool(used & unstable) or not analyzed.deterministic() or analyzed.containsPattern(clock)


def _failing_expression(spark: SparkSession, settings: IngestSettings) -> str:
    """The key of the first expression that Spark cannot analyse."""
    from dataclasses import replace

    from pyspark.errors import AnalysisException

    records, tried = spark.createDataFrame([], transform.KAFKA_COLUMNS), {}
    for name, expression in settings.columns.items():
        tried[name] = expression
        try:
            transform.with_columns(records, replace(settings, columns=tried))
        except AnalysisException:
            return f"columns.{name}"
    opened = transform.with_columns(records, settings)
    for name, rule in settings.rules.items():
        try:
            opened.selectExpr(rule)
        except AnalysisException:
            return f"rules.{name}"
    return "format"


def _check_pair(sink: Sink, checkpoint: Folder) -> None:
    """Refuse a checkpoint and a table that do not belong together."""
    checkpoint_id, begun, done = (
        batch_offsets.checkpoint_id(checkpoint),
        batch_offsets.last_planned(checkpoint),
        batch_offsets.last_committed(checkpoint),
    )
    table = sink.folder
    described = batch_journal.last_batch(table)
    if described < 0 and not table.exists(SCHEMA) and any(map(is_row_file, table.files(""))):
        raise RefusedJobError(f"sink {table.path} has files that no ingest wrote", "give the job another sink.path")
    if done > described:
        raise RefusedJobError(
            f"the checkpoint is at batch {done}, but the sink has only batches up to {described}",
            f"restore the sink; {RESTART_ADVICE}",
        )
    number, owner = last_batch(sink)
    if begun < number or (number >= 0 and owner != checkpoint_id):
        raise RefusedJobError(
            f"the sink has batches up to {number} of another checkpoint",
            f"give the job its earlier checkpoint; {RESTART_ADVICE}",
        )


def last_batch(sink: Sink) -> tuple[int, str]:
    """The last batch in the sink and its checkpoint, -1 without one; the journal may lack an interrupted batch."""
    described = batch_journal.last_batch(sink.folder)
    if (mark := sink.last_commit()) and mark.batch > described:
        return mark.batch, mark.checkpoint
    batch = batch_journal.load_batch(sink.folder, described)
    return described, batch["checkpoint"] if batch else ""


def _check_schema(columns: StructType, settings: IngestSettings, table: Folder) -> dict[str, Any]:
    """Refuse a schema that differs from the table's; returns the schema to store, with new columns where allowed."""
    columns_of_file = {field.name: field.dataType.simpleString() for field in columns}
    schema = {
        "columns": columns_of_file,
        "partition_by": list(settings.sink.partition_by),
        "format": settings.sink.format,
    }
    recorded: dict[str, Any] = table.load(SCHEMA) or schema
    advice = (
        f"undo the change in the job's file, or give the job a new checkpoint and a new sink.path; table: {table.path}"
    )
    if (table_format := recorded.get("format", settings.sink.format)) != settings.sink.format:
        raise RefusedJobError(
            f"the table's format is {table_format}, the job's file has {settings.sink.format}", advice
        )
    for name, kind in recorded["columns"].items():
        if name not in columns_of_file:
            raise RefusedJobError(f"column {name} is in the table, but not in the job's file", advice)
        if columns_of_file[name] != kind:
            raise RefusedJobError(
                f"column {name} is {columns_of_file[name]} in the job's file and {kind} in the table", advice
            )
    if recorded["partition_by"] != list(settings.sink.partition_by):
        raise RefusedJobError(f"the table is partitioned by {', '.join(recorded['partition_by']) or 'nothing'}", advice)
    new = [name for name in columns_of_file if name not in recorded["columns"]]
    if new and settings.sink.new_columns != "add":
        raise RefusedJobError(
            f"the table has no column {', '.join(new)}", "set sink.new_columns: add in the job's file"
        )
    return {**schema, "columns": {**recorded["columns"], **columns_of_file}}
