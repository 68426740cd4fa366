"""A short run of what every job does, so that the JVM can archive the classes that a driver loads.

spark-submit --conf spark.driver.extraJavaOptions=-XX:ArchiveClassesAtExit=FILE spark_jobs/runtime/class_training.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

# spark-submit puts this file's folder first on the path; the package is one further up.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from spark_jobs.runtime.session import spark_session  # noqa: E402

ROWS = 1000
SCHEMA = "id string, at timestamp, lat double"


def main() -> None:
    """Read JSON as a stream, apply a rule, write a partitioned table, read it back and count."""
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import count, expr, from_json

    spark = spark_session("training", {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"})
    with TemporaryDirectory(prefix="kcluster-training-") as name:
        source, table = Path(name, "source"), str(Path(name, "table"))
        source.mkdir()
        lines = (json.dumps({"id": str(n), "at": "2026-11-18T12:00:00Z", "lat": n / 10}) for n in range(ROWS))
        (source / "lines").write_text("\n".join(lines))

        def write(batch: DataFrame, number: int) -> None:
            batch.persist()
            batch.groupBy("good").agg(count("*")).collect()
            batch.write.mode("append").partitionBy("good").option("compression", "zstd").parquet(table)
            batch.unpersist()

        read = spark.readStream.text(str(source)).select(from_json("value", SCHEMA).alias("row")).select("row.*")
        judged = read.withColumn("good", expr("lat between -90 and 90"))
        stream = judged.writeStream.foreachBatch(write).option("checkpointLocation", str(Path(name, "checkpoint")))
        stream.trigger(availableNow=True).start().awaitTermination()
        spark.read.parquet(table).groupBy("good").count().collect()
    spark.stop()


if __name__ == "__main__":
    main()
