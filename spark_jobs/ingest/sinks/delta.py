"""A Delta table: each batch is one commit, which Delta applies once for each checkpoint id and batch number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest.sinks.base import LastCommit
from spark_jobs.ingest.sinks.lake import TransactionalSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from spark_jobs.settings import ingest


def spark_settings(_: ingest.SinkSettings) -> dict[str, str]:
    """Delta's SQL extension and catalog; few tasks for its log, which is small."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "4",
    }


class DeltaTable(TransactionalSink):
    """A folder with a `_delta_log`."""

    @property
    def name(self) -> str:
        """The table in SQL, by its path."""
        return f"delta.{_quoted(self.folder.path)}"

    def create(self, columns: StructType) -> None:
        """Create the table; new columns are added by the commit that has them."""
        folders = ", ".join(map(_quoted, self.settings.partition_by))
        partitioned = f"partitioned by ({folders})" if folders else ""
        ddl = self.java(columns).toDDL()
        self.spark.sql(f"create table if not exists {self.name} ({ddl}) using delta {partitioned}")

    def last_commit(self) -> LastCommit | None:
        """The last batch in the history; other commits, such as OPTIMIZE, may follow it."""
        newest = self._history("limit 1")
        return _newest_mark(newest) or (_newest_mark(self._history("")) if newest else None)

    def append(self, rows: DataFrame, checkpoint: str, number: int) -> None:
        """Append the rows; Delta skips a batch number that it has of this checkpoint."""
        mark = json.dumps({"checkpoint": checkpoint, "batch": number})
        writer = rows.write.format("delta").mode("append").option("userMetadata", mark)
        writer = writer.option("txnAppId", checkpoint).option("txnVersion", number)
        writer = writer.option("mergeSchema", str(self.settings.new_columns == "add").lower())
        writer.option("compression", self.settings.compression).save(self.folder.path)

    def rows(self) -> DataFrame | None:
        """The rows of the current version."""
        (newest,) = self._history("limit 1")
        return self.spark.read.format("delta").option("versionAsOf", newest["version"]).load(self.folder.path)

    def _history(self, limit: str) -> list[Any]:
        if not self.folder.exists("_delta_log"):
            return []
        history = self.spark.sql(f"describe history {self.name} {limit}")
        return history.select("version", "userMetadata", "operationMetrics").collect()


def _quoted(name: str) -> str:
    """A name quoted for SQL."""
    return "`" + name.replace("`", "``") + "`"


def _newest_mark(history: list[Any]) -> LastCommit | None:
    """The newest commit of a job, among commits from new to old."""
    for commit in history:
        try:
            mark = json.loads(commit["userMetadata"])
            return LastCommit(mark["checkpoint"], mark["batch"], int(commit["operationMetrics"]["numOutputRows"]))
        except (TypeError, ValueError, KeyError):  # a commit of another writer
            continue
    return None
