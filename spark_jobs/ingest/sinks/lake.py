"""What Delta and Iceberg have in common: commits that are whole or not at all, and say which batch they are."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest.sinks.base import CommittedBatch, Sink
from spark_jobs.runtime.error_causes import RefusedJobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class TransactionalSink(Sink):
    """A table of a format that commits."""

    @abstractmethod
    def create(self, columns: StructType) -> None:
        """Create the table when it is not there, and let it have columns that it does not have yet."""

    @abstractmethod
    def append(self, rows: DataFrame, checkpoint: str, number: int) -> None:
        """Add the rows of a batch in one commit that is marked with it, unless there is one."""

    def ensure_table(self, columns: StructType) -> None:
        """What the format cannot hold is said now, and not by the first batch."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException
        from pyspark.sql.types import StructField, StructType

        # Each of them may be null: what a file computes now and cannot be null may be computed otherwise one day.
        free = StructType([StructField(each.name, each.dataType) for each in columns])
        try:
            self.create(free)
        except (PySparkException, Py4JJavaError) as problem:
            raise RefusedJobError(
                f"the table cannot be made: {_first_line(problem)}", "correct the job's file"
            ) from problem

    def write(self, rows: DataFrame, checkpoint: str, number: int) -> CommittedBatch:
        """Commit the rows, and ask the table how many they are: a run before may have been the one that wrote them."""
        self.append(self.coalesced(rows), checkpoint, number)
        mark = self.last_commit()
        if mark is None or (mark.checkpoint, mark.batch) != (checkpoint, number):
            raise RefusedJobError(
                f"the table {self.folder.path} does not tell of batch {number}, which it was given",
                "its history was shortened while the job stood still; give the job a new checkpoint and sink.path",
            )
        return CommittedBatch(mark.rows, [])

    def publish(self, batch: dict[str, Any]) -> None:
        """Nothing: what is committed is seen."""

    def java(self, columns: StructType) -> Any:
        """Columns as the JVM has them."""
        jvm: Any = self.spark._jvm
        return jvm.org.apache.spark.sql.types.DataType.fromJson(columns.json())


def _first_line(problem: Exception) -> str:
    """What an error says, without the name of its class and where it was."""
    lines = [line.strip() for line in str(problem).splitlines()]
    lines = [line for line in lines if line and not line.startswith("An error occurred while calling")]
    return lines[0].removeprefix(": ") if lines else type(problem).__name__
