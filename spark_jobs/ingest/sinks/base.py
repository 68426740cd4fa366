"""The interface of a sink."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from spark_jobs.runtime.folder import Folder
    from spark_jobs.settings import ingest


@dataclass(frozen=True)
class LastCommit:
    """The last batch that a table itself has recorded."""

    checkpoint: str
    batch: int
    rows: int


@dataclass(frozen=True)
class CommittedBatch:
    """The result of writing a batch: number of rows, and files that are still to be moved."""

    rows: int
    files: list[list[str]]
    """Staged file and target of each file to move."""


class Sink(ABC):
    """A table in a folder: a batch is written, journaled by the job, then published; every step can be repeated."""

    def __init__(self, spark: SparkSession, settings: ingest.SinkSettings, folder: Folder) -> None:
        self.spark = spark
        self.settings = settings
        self.folder = folder

    @abstractmethod
    def ensure_table(self, columns: StructType) -> None:
        """Create or extend the table for these columns; refused when the format cannot store them."""

    @abstractmethod
    def last_commit(self) -> LastCommit | None:
        """The last batch that the table has recorded; None without one."""

    @abstractmethod
    def write(self, rows: DataFrame, checkpoint: str, number: int) -> CommittedBatch:
        """Write the rows of a batch unless the table has them already."""

    @abstractmethod
    def sync(self, since: float) -> None:
        """Let what was written for a batch, since a time, outlive a power cut."""

    @abstractmethod
    def publish(self, batch: dict[str, Any]) -> None:
        """Make a journaled batch visible to readers; no effect when it is."""

    @abstractmethod
    def rows(self) -> DataFrame | None:
        """A consistent snapshot of the table with the coordinates of each row; None for an empty table."""

    def coalesced(self, rows: DataFrame) -> DataFrame:
        """The rows in as many partitions as files are to be written."""
        return rows.coalesce(self.settings.files_per_batch or rows.sparkSession.sparkContext.defaultParallelism)
