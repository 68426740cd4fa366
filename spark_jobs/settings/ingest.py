"""What the file of an `ingest` job may say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from spark_jobs.settings.source import Source


@dataclass(frozen=True)
class SinkSettings:
    """Where the rows go."""

    format: Literal["parquet", "delta", "iceberg"] = "parquet"
    path: str = ""
    """A folder that the driver and every executor reach; empty: kcluster's own folder for this job."""
    partition_by: tuple[str, ...] = ()
    """Columns that become folders: of the schema, of `columns`, or _date, the day of the record's timestamp."""
    files_per_batch: int = 0
    """At most that many files per batch and partition; 0: one for each core."""
    compression: Literal["zstd", "snappy", "lz4_raw", "gzip", "none"] = "zstd"
    new_columns: Literal["stop", "add"] = "stop"
    """What to do when the schema has a column that the sink does not have yet."""


@dataclass(frozen=True)
class IngestSettings(Source):
    """The whole file; what it says of reading is in source.py."""

    name: str = "ingest"
    sink: SinkSettings = field(default_factory=SinkSettings)
    dead_letters: str = ""
    """The topic for records that do not fit; empty: the first topic's name and .dead-letters."""

    @property
    def dead_letter_topic(self) -> str:
        """Where the dead letters go."""
        return self.dead_letters or f"{self.topics[0]}.dead-letters"

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        yield from super().check()
        if self.dead_letter_topic in self.topics:
            yield f"dead_letters: {self.dead_letter_topic} is one of the topics that are read"
        known = {*self.column_names(), "_date"}
        for name in self.sink.partition_by:
            if name not in known:
                yield f"sink.partition_by: there is no column {name}; there are: {', '.join(sorted(known))}"
