"""Delta and Iceberg hold each record once as Parquet does: what they tell, refuse, and survive."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs import settings
from spark_jobs.ingest import prechecks, sinks
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder
from tests.integration.conftest import Live
from tests.spark.conftest import Job, until
from tests.spark.feeding import Feed
from tests.spark.verification import assert_audit_passes, assert_each_record_once, create_topics, reached

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.ingest.sinks.base import Sink

LOGS = {"delta": "_delta_log/*.json", "iceberg": "metadata/v*.metadata.json"}
"""What a commit adds to a table of the format."""


def new(folder: Path, pattern: str) -> Callable[[], set[Path]]:
    """Tells what is there that is not there now."""
    before = set(folder.glob(pattern))
    return lambda: {*folder.glob(pattern)} - before


SCHEMA = {"id": "string", "lat": "double"}
ROW = ("t", 0, 7, datetime(2026, 11, 18, 12, tzinfo=UTC))
COORDINATES = "_topic string, _partition int, _offset bigint, _timestamp timestamp"


def ready_sink(spark: SparkSession, place: Path, schema: dict[str, str], **sink: Any) -> Sink:
    """The sink of a job with this file that may begin."""
    read, wrong = settings.read({"job": "ingest", "topics": ["t"], "format": {"schema": schema}, "sink": sink})
    assert not wrong
    made = sinks.make_sink(spark, read.sink, Folder(spark, str(place / "table")))
    prechecks.check(spark, read, made, Folder(spark, str(place / "checkpoint")))
    return made


@pytest.mark.parametrize("format", LOGS)
def test_a_table_takes_a_batch_once_and_columns_when_the_file_says_so(
    spark: SparkSession, tmp_path: Path, format: str
) -> None:
    checkpoint = tmp_path / "checkpoint"
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id":"one"}')
    (checkpoint / "offsets" / "0").write_text('v1\n{}\n{"t":{"0":8}}')
    sink = ready_sink(spark, tmp_path, SCHEMA, format=format)
    rows = spark.createDataFrame([("a", 1.5, *ROW)], f"id string, lat double, {COORDINATES}")
    for _ in range(2):
        assert sink.write(rows, "one", 0).rows == 1
    wider = {**SCHEMA, "speed": "double"}
    with pytest.raises(RefusedJobError, match="the table has no column speed"):
        ready_sink(spark, tmp_path, wider, format=format)
    sink = ready_sink(spark, tmp_path, wider, format=format, new_columns="add")
    more = spark.createDataFrame([("b", 2.5, 9.0, *ROW)], f"id string, lat double, speed double, {COORDINATES}")
    assert sink.write(more, "one", 1).rows == 1
    table = sink.rows()
    assert table is not None
    found = table.select("id", "speed", "_partition", "_offset").orderBy("id").collect()
    assert [tuple(each) for each in found] == [("a", None, 0, 7), ("b", 9.0, 0, 7)]
    with pytest.raises(RefusedJobError, match=f"the table's format is {format}, the job's file has parquet"):
        ready_sink(spark, tmp_path, wider)
    with pytest.raises(RefusedJobError, match="the sink has batches up to 1 of another checkpoint"):
        ready_sink(spark, tmp_path, wider, format=format)


@pytest.mark.parametrize("format", LOGS)
def test_a_driver_killed_around_its_commits_writes_each_record_once(
    live: Live, ingest: Callable[..., Job], spark: SparkSession, format: str
) -> None:
    name = create_topics(live, f"killed-{format}")
    job = ingest(live.bootstrap, name, sink={"format": format}, batch={"max_records": 400})
    with Feed(live.bootstrap, name, rate=20) as feed:
        feed.send(1000)
        for pattern in (LOGS[format], LOGS[format], "_kcluster/batches/*.json", "_kcluster/staged/*-dead"):
            moment, running = new(job.table, pattern), job.start()
            until(partial(reached, moment, running), pattern)
            assert running.poll() is None, job.state()
            job.kill()
    job.settings["batch"] = {"max_records": 100_000}
    assert job.once()["state"] == "finished", job.state()
    told = assert_audit_passes(job)
    assert sum(each["read"] for each in told["partitions"]) == feed.good + feed.poisonous
    assert_each_record_once(spark, live, job, name, feed)
