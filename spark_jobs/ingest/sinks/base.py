"""What an ingest asks of its sink, whatever the format."""

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
    """What a table says of the last batch that it holds."""

    checkpoint: str
    batch: int
    rows: int


@dataclass(frozen=True)
class CommittedBatch:
    """What became of the rows of a batch."""

    rows: int
    files: list[list[str]]
    """Files that are to be moved, each with the place it belongs to."""


class Sink(ABC):
    """A table in a folder: a batch is written, then described by the job, then published; each step may come twice."""

    def __init__(self, spark: SparkSession, settings: ingest.SinkSettings, folder: Folder) -> None:
        self.spark = spark
        self.settings = settings
        self.folder = folder

    @abstractmethod
    def ensure_table(self, columns: StructType) -> None:
        """Have a table that takes rows with these columns."""

    @abstractmethod
    def last_commit(self) -> LastCommit | None:
        """The last batch of which the table itself knows; None when it knows of none."""

    @abstractmethod
    def write(self, rows: DataFrame, checkpoint: str, number: int) -> CommittedBatch:
        """Write the rows of a batch, unless the table has it."""

    @abstractmethod
    def publish(self, batch: dict[str, Any]) -> None:
        """Let readers see a batch that is described, if they do not yet."""

    @abstractmethod
    def rows(self) -> DataFrame | None:
        """Where each row came from, of the table as it is now and stays while it is counted; None of an empty one."""

    def coalesced(self, rows: DataFrame) -> DataFrame:
        """The rows in as many pieces as there are to be files: fewer and larger ones."""
        return rows.coalesce(self.settings.files_per_batch or rows.sparkSession.sparkContext.defaultParallelism)
