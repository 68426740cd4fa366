"""An Iceberg table in a folder: each batch is a snapshot with checkpoint id and batch number in its summary.

Commits rename a file (a Hadoop table): for a disk, HDFS or a shared folder, with one writer. Object stores, where two
renames may both succeed, would need a catalog.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spark_jobs.ingest.sinks.base import LastCommit
from spark_jobs.ingest.sinks.lake import TransactionalSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from spark_jobs.settings import ingest

CHECKPOINT, BATCH = "kcluster.checkpoint", "kcluster.batch"

PARTITION = "_topic_partition"
"""The name of the column `_partition` here: Iceberg reserves that name."""

PROPERTIES = {
    # Each commit writes a file with the table's metadata; the last hundred are kept.
    "write.metadata.delete-after-commit.enabled": "true"
}


def spark_settings(_: ingest.SinkSettings) -> dict[str, str]:
    """None: Iceberg finds tables by path without a catalog."""
    return {}


class IcebergTable(TransactionalSink):
    """A folder with `metadata` and `data`."""

    def create(self, columns: StructType) -> None:
        """Create the table, or add its missing columns."""
        from pyspark.sql.types import StructField, StructType

        named = [(PARTITION if each.name == "_partition" else each.name, each.dataType) for each in columns]
        java = self.java(StructType([StructField(*each) for each in named]))
        schema = self._iceberg.spark.SparkSchemaUtil.convert(java)
        if self._tables().exists(self.folder.path):
            self._table().updateSchema().unionByNameWith(schema).commit()
            return
        spec = self._iceberg.PartitionSpec.builderFor(schema)
        for name in self.settings.partition_by:
            spec = spec.identity(name)
        self._tables().create(schema, spec.build(), PROPERTIES, self.folder.path)

    def last_commit(self) -> LastCommit | None:
        """The last batch among the snapshots; others, such as a compaction, may follow it."""
        for snapshot in self._snapshots():
            summary = snapshot.summary()
            if (batch := summary.get(BATCH)) is not None:
                return LastCommit(summary.get(CHECKPOINT), int(batch), int(summary.get("added-records") or 0))
        return None

    def append(self, rows: DataFrame, checkpoint: str, number: int) -> None:
        """Append the rows unless the newest snapshot of the job is of this batch."""
        mark = self.last_commit()
        if mark and (mark.checkpoint, mark.batch) == (checkpoint, number):
            return
        compression = {"none": "uncompressed"}.get(self.settings.compression, self.settings.compression)
        options = {
            f"snapshot-property.{CHECKPOINT}": checkpoint,
            f"snapshot-property.{BATCH}": str(number),
            "compression-codec": compression,
            # One file for each Spark partition and folder: no shuffle, no sort.
            "distribution-mode": "none",
            "fanout-enabled": "true",
        }
        renamed = rows.withColumnRenamed("_partition", PARTITION)
        renamed.write.format("iceberg").mode("append").options(**options).save(self.folder.path)

    def rows(self) -> DataFrame | None:
        """The rows of the current snapshot."""
        newest = next(self._snapshots(), None)
        if newest is None:
            return None
        reader = self.spark.read.format("iceberg").option("versionAsOf", newest.snapshotId())
        return reader.load(self.folder.path).withColumnRenamed(PARTITION, "_partition")

    def _snapshots(self) -> Iterator[Any]:
        """The snapshots from the newest to the oldest that the table still has."""
        if not self._tables().exists(self.folder.path):
            return
        table = self._table()
        snapshot = table.currentSnapshot()
        while snapshot is not None:
            yield snapshot
            parent = snapshot.parentId()
            snapshot = None if parent is None else table.snapshot(parent)

    def _table(self) -> Any:
        return self._tables().load(self.folder.path)

    def _tables(self) -> Any:
        return self._iceberg.hadoop.HadoopTables(self.spark._jsc.hadoopConfiguration())

    @property
    def _iceberg(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.iceberg
