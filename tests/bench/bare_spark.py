"""The yardsticks of `ingest`, as `spark-submit` runs them with Spark's defaults.

`whole` reads a topic and parses its JSON, and keeps nothing of it; `first` takes one streaming batch of a topic. Both
print the wall clock before and after.
"""

from __future__ import annotations

import sys
import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

SCHEMA = "truck_id string, lat double, lon double, speed double, time timestamp"


def whole(spark: SparkSession, options: dict[str, str]) -> None:
    """All records of the topic in one pass."""
    parsed(spark.read.format("kafka").options(**options).load()).write.format("noop").mode("overwrite").save()


def first(spark: SparkSession, options: dict[str, str]) -> None:
    """What is there as a stream."""
    stream = parsed(spark.readStream.format("kafka").options(**options).load())
    stream.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination()


def parsed(records: DataFrame) -> DataFrame:
    """The fields of each record."""
    return records.select(sql.from_json(sql.col("value").cast("string"), SCHEMA).alias("record")).select("record.*")


if __name__ == "__main__":
    what, bootstrap, topic = sys.argv[1:]
    session = SparkSession.builder.getOrCreate()
    begin = time.time()
    reading = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
    {"whole": whole, "first": first}[what](session, reading)
    print(begin, time.time())
    session.stop()
