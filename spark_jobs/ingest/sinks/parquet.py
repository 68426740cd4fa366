"""Parquet files that need nobody else: the job's own description of a batch decides whether it is there.

A batch is written beside the table (`_kcluster/staged`), then described, and only then moved into place. When a run is
cut off and Spark gives the same batch again, a batch with a description is not written again: what is left to move is
moved.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest.batch_journal import JOB_FOLDER, STAGED
from spark_jobs.ingest.sinks.base import CommittedBatch, LastCommit, Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from spark_jobs.settings import ingest


def spark_settings(_: ingest.SinkSettings) -> dict[str, str]:
    """Nothing: Spark knows Parquet."""
    return {}


class ParquetTable(Sink):
    """Files in folders."""

    def ensure_table(self, columns: StructType) -> None:
        """Nothing: each file has its own columns."""

    def last_commit(self) -> LastCommit | None:
        """Files know nothing of batches."""
        return None

    def write(self, rows: DataFrame, _checkpoint: str, number: int) -> CommittedBatch:
        """Write the rows beside the table."""
        here = f"{STAGED}/{number}"
        writer = self.coalesced(rows).write.mode("overwrite").partitionBy(*self.settings.partition_by)
        writer.option("compression", self.settings.compression).parquet(self.folder.path_of(here))
        staged = [name for name in self.folder.files(here) if name.endswith(".parquet")]
        files = [[name, _place(name.removeprefix(f"{here}/"), number, part)] for part, name in enumerate(staged)]
        return CommittedBatch(self._count(staged), files)

    def publish(self, batch: dict[str, Any]) -> None:
        """Move the files into place; those that are there already stay."""
        for name, place in batch["files"]:
            self.folder.move(name, place)

    def rows(self) -> DataFrame | None:
        """Of all files that are in place."""
        files = [name for name in self.folder.files("") if is_row_file(name)]
        if not files:
            return None
        reader = self.spark.read.schema("_topic string, _partition int, _offset long")
        return reader.option("recursiveFileLookup", "true").parquet(*map(self.folder.path_of, files))

    def _count(self, files: list[str]) -> int:
        """How many rows the files hold, by their footers."""
        return self.spark.read.parquet(*map(self.folder.path_of, files)).count() if files else 0


def is_row_file(name: str) -> bool:
    """Whether a file of a table's folder holds rows; `_date=...` is a folder of rows as any other."""
    return name.endswith(".parquet") and not name.startswith(f"{JOB_FOLDER}/")


def _place(name: str, number: int, part: int) -> str:
    """Where a file belongs: in the folder of its partition, named by its batch."""
    return str(PurePosixPath(name).parent / f"batch-{number:09d}-{part:04d}.parquet")
