"""Settings of the job `ingest`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from spark_jobs.settings.source import Source


@dataclass(frozen=True)
class SinkSettings:
    """The table to write."""

    format: Literal["parquet", "delta", "iceberg"] = "parquet"
    path: str = ""
    """A folder that the driver and every executor can write; empty: a folder of kcluster for this job."""
    partition_by: tuple[str, ...] = ()
    """Partition columns: of the schema, of `columns`, or _date, the day of the record's timestamp."""
    files_per_batch: int = 0
    """Most files per batch and partition; 0: one for each core."""
    compression: Literal["zstd", "snappy", "lz4_raw", "gzip", "none"] = "zstd"
    new_columns: Literal["stop", "add"] = "stop"
    """What to do when the schema has a column that the table does not have yet."""


@dataclass(frozen=True)
class IngestSettings(Source):
    """All keys of the file; those for reading are in source.py."""

    name: str = "ingest"
    sink: SinkSettings = field(default_factory=SinkSettings)
    dead_letters: str = ""
    """The topic for refused records; empty: the first topic's name with .dead-letters."""

    @property
    def dead_letter_topic(self) -> str:
        """The topic for dead letters."""
        return self.dead_letters or f"{self.topics[0]}.dead-letters"

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        yield from super().check()
        if self.dead_letter_topic in self.topics:
            yield f"dead_letters: {self.dead_letter_topic} is also in topics; name another topic"
        known = {*self.column_names(), "_date"}
        for name in self.sink.partition_by:
            if name not in known:
                yield f"sink.partition_by: unknown column {name}; known: {', '.join(sorted(known))}"
