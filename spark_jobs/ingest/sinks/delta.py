"""A Delta table: each batch is a commit with the checkpoint's id and the batch's number, which Delta takes once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest.sinks.base import Mark
from spark_jobs.ingest.sinks.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from spark_jobs.settings import ingest


def needs(_: ingest.SinkSettings) -> dict[str, str]:
    """Delta's words in SQL and its catalog; few tasks for its log, which is small beside the data."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "4",
    }


class DeltaTable(Lake):
    """A folder with a `_delta_log`."""

    @property
    def name(self) -> str:
        """The table in SQL, by its path."""
        return f"delta.{_quoted(self.folder.path)}"

    def create(self, columns: StructType) -> None:
        """Create the table; new columns come with the rows that have them."""
        folders = ", ".join(map(_quoted, self.settings.partition_by))
        partitioned = f"partitioned by ({folders})" if folders else ""
        told = self.java(columns).toDDL()
        self.spark.sql(f"create table if not exists {self.name} ({told}) using delta {partitioned}")

    def newest(self) -> Mark | None:
        """The last batch of the history; somebody else may have written after it, such as OPTIMIZE."""
        told = self._history("limit 1")
        return _mark(told) or (_mark(self._history("")) if told else None)

    def append(self, rows: DataFrame, checkpoint: str, number: int) -> None:
        """Add the rows; Delta leaves out what has a number that it knows of this checkpoint."""
        mark = json.dumps({"checkpoint": checkpoint, "batch": number})
        writer = rows.write.format("delta").mode("append").option("userMetadata", mark)
        writer = writer.option("txnAppId", checkpoint).option("txnVersion", number)
        writer = writer.option("mergeSchema", str(self.settings.new_columns == "add").lower())
        writer.option("compression", self.settings.compression).save(self.folder.path)

    def rows(self) -> DataFrame | None:
        """Of the version that is the newest now."""
        (newest,) = self._history("limit 1")
        return self.spark.read.format("delta").option("versionAsOf", newest["version"]).load(self.folder.path)

    def _history(self, how_much: str) -> list[Any]:
        if not self.folder.exists("_delta_log"):
            return []
        told = self.spark.sql(f"describe history {self.name} {how_much}")
        return told.select("version", "userMetadata", "operationMetrics").collect()


def _quoted(name: str) -> str:
    """A name as SQL reads it, whatever letters it has."""
    return "`" + name.replace("`", "``") + "`"


def _mark(history: list[Any]) -> Mark | None:
    """The newest mark of ours, of commits from new to old."""
    for commit in history:
        try:
            told = json.loads(commit["userMetadata"])
            return Mark(told["checkpoint"], told["batch"], int(commit["operationMetrics"]["numOutputRows"]))
        except (TypeError, ValueError, KeyError):  # a commit of somebody else
            continue
    return None
