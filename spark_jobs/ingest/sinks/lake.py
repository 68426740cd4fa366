"""Common parts of Delta and Iceberg: atomic commits that carry the batch number."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest.sinks.base import CommittedBatch, Sink
from spark_jobs.runtime.error_causes import RefusedJobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class TransactionalSink(Sink):
    """A table with atomic commits."""

    @abstractmethod
    def create(self, columns: StructType) -> None:
        """Create the table, or add its missing columns."""

    @abstractmethod
    def append(self, rows: DataFrame, checkpoint: str, number: int) -> None:
        """Append the rows of a batch in one commit that carries its number, unless there is one."""

    def ensure_table(self, columns: StructType) -> None:
        """Create or extend the table; refused now, not in the first batch, when the format cannot store a column."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException
        from pyspark.sql.types import StructField, StructType

        # All columns nullable: an expression that is never null today may be changed later.
        free = StructType([StructField(each.name, each.dataType) for each in columns])
        try:
            self.create(free)
        except (PySparkException, Py4JJavaError) as problem:
            raise RefusedJobError(
                f"the table cannot be created: {_first_line(problem)}", "correct the job's file"
            ) from problem

    def write(self, rows: DataFrame, checkpoint: str, number: int) -> CommittedBatch:
        """Commit the rows; their number comes from the table, because an earlier run may have committed them."""
        self.append(self.coalesced(rows), checkpoint, number)
        mark = self.last_commit()
        if mark is None or (mark.checkpoint, mark.batch) != (checkpoint, number):
            raise RefusedJobError(
                f"batch {number} is not in the history of table {self.folder.path} after its commit",
                "the history was shortened while the job was stopped; give the job a new checkpoint and sink.path",
            )
        return CommittedBatch(mark.rows, [])

    def sync(self, since: float) -> None:
        """Data and metadata of commits since then; a power cut before it, but after the commit, damages the table."""
        self.folder.sync("", since)

    def publish(self, batch: dict[str, Any]) -> None:
        """No effect: a commit is visible at once."""

    def java(self, columns: StructType) -> Any:
        """The columns as an object of the JVM."""
        jvm: Any = self.spark._jvm
        return jvm.org.apache.spark.sql.types.DataType.fromJson(columns.json())


def _first_line(problem: Exception) -> str:
    """The first line of an error's text without Py4J's prefix."""
    lines = [line.strip() for line in str(problem).splitlines()]
    lines = [line for line in lines if line and not line.startswith("An error occurred while calling")]
    return lines[0].removeprefix(": ") if lines else type(problem).__name__
