"""Parquet files without a table format: the job's journal decides which batches are written.

A batch is written to `_kcluster/staged`, then journaled, and only then moved into place. When an interrupted batch is
repeated and it is in the journal, it is not written again: only the remaining files are moved.
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
    """None: Parquet is part of Spark."""
    return {}


class ParquetTable(Sink):
    """A folder of Parquet files."""

    def ensure_table(self, columns: StructType) -> None:
        """No effect: each file has its own columns."""

    def last_commit(self) -> LastCommit | None:
        """None: Parquet files do not record batches."""
        return None

    def write(self, rows: DataFrame, _checkpoint: str, number: int) -> CommittedBatch:
        """Write the rows to the staging folder."""
        staging = f"{STAGED}/{number}"
        writer = self.coalesced(rows).write.mode("overwrite").partitionBy(*self.settings.partition_by)
        writer.option("compression", self.settings.compression).parquet(self.folder.path_of(staging))
        staged = [name for name in self.folder.files(staging) if name.endswith(".parquet")]
        files = [[name, _target(name.removeprefix(f"{staging}/"), number, part)] for part, name in enumerate(staged)]
        return CommittedBatch(self._count(staged), files)

    def sync(self, since: float) -> None:
        """The staged files."""
        self.folder.sync(STAGED)

    def publish(self, batch: dict[str, Any]) -> None:
        """Move the files into place; files that were moved before stay."""
        for name, target in batch["files"]:
            self.folder.move(name, target)
        self.folder.sync_names(target for _, target in batch["files"])

    def rows(self) -> DataFrame | None:
        """The rows of all files in place."""
        files = [name for name in self.folder.files("") if is_row_file(name)]
        if not files:
            return None
        reader = self.spark.read.schema("_topic string, _partition int, _offset long")
        return reader.option("recursiveFileLookup", "true").parquet(*map(self.folder.path_of, files))

    def _count(self, files: list[str]) -> int:
        """The number of rows, from the footers."""
        return self.spark.read.parquet(*map(self.folder.path_of, files)).count() if files else 0


def is_row_file(name: str) -> bool:
    """Whether a file in a table's folder has rows: Parquet outside the job's folder."""
    return name.endswith(".parquet") and not name.startswith(f"{JOB_FOLDER}/")


def _target(name: str, number: int, part: int) -> str:
    """The target of a file: the folder of its partition, with the batch in the name."""
    return str(PurePosixPath(name).parent / f"batch-{number:09d}-{part:04d}.parquet")
