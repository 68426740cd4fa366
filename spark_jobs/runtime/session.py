"""The Spark session of a job: defaults for every job, overridden by the `spark` settings of its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS = {
    "spark.sql.session.timeZone": "UTC",
    # A value that an expression cannot convert becomes null, for rules to catch; with ANSI one record stops the job.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A batch is one pass over Kafka without a shuffle worth replanning.
    "spark.sql.adaptive.enabled": "false",
    # Partition folders are written in parallel; without this Spark sorts every batch first.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}


def spark_session(name: str, settings: Mapping[str, str]) -> SparkSession:
    """The session of this process, made on the first call; master and jars come from `spark-submit`."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    for key, value in {**DEFAULTS, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
