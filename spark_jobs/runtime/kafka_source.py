"""Spark's Kafka source: topics as a streaming DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from spark_jobs.settings.common import interval

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_jobs.settings.source import Source

CONSUMER_DEFAULTS = {
    # Fewer and larger fetches than the client's defaults, which are tuned for latency.
    "fetch.min.bytes": "65536",
    "fetch.max.wait.ms": "100",
    "max.partition.fetch.bytes": "8388608",
    "receive.buffer.bytes": "1048576",
    "max.poll.records": "10000",
    # Records of aborted transactions are not read.
    "isolation.level": "read_committed",
}


def read_stream(spark: SparkSession, settings: Source, bootstrap: str, security: Mapping[str, str]) -> DataFrame:
    """The records of the topics: from the checkpoint's offsets, or for a new checkpoint from `start`."""
    return spark.readStream.format("kafka").options(**source_options(settings, bootstrap, security)).load()


def source_options(settings: Source, bootstrap: str, security: Mapping[str, str]) -> dict[str, str]:
    """The options of Spark's Kafka source for a job's settings and the security settings of a Java client."""
    consumer = {**CONSUMER_DEFAULTS, **security, **settings.kafka, "bootstrap.servers": bootstrap}
    return {
        **{f"kafka.{key}": value for key, value in consumer.items()},
        "subscribe": ",".join(settings.topics),
        "failOnDataLoss": str(settings.when_data_is_gone == "stop").lower(),
        "maxOffsetsPerTrigger": str(settings.batch.max_records),
        **_waiting(settings),
        **_start(settings.start),
    }


def _waiting(settings: Source) -> dict[str, str]:
    if not settings.batch.min_records:
        return {}
    return {
        "minOffsetsPerTrigger": str(settings.batch.min_records),
        "maxTriggerDelay": interval(settings.batch.max_wait),
    }


def _start(start: str) -> dict[str, str]:
    if start in ("earliest", "latest"):
        return {"startingOffsets": start}
    instant = datetime.fromisoformat(start)
    instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    milliseconds = round(instant.timestamp() * 1000)
    return {"startingTimestamp": str(milliseconds), "startingOffsetsByTimestampStrategy": "latest"}
