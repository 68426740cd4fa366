"""The Spark session of a job: settings that hold for every job, then what the job's file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS = {
    "spark.sql.session.timeZone": "UTC",
    # A value that an expression cannot take becomes null, which a rule can see; else one record would stop the job.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A batch is one pass over Kafka without a shuffle worth planning again.
    "spark.sql.adaptive.enabled": "false",
    # Folders of a partitioned table are written side by side; without this Spark sorts every batch first.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}


def spark_session(name: str, settings: Mapping[str, str]) -> SparkSession:
    """The session; `spark-submit` has the last word on master and jars."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    for key, value in {**DEFAULTS, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
