"""What the file of a `latest` job may say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from spark_jobs.settings.common import Batch, Format, check_name, duration
from spark_jobs.settings.ingest import INSTANT


@dataclass(frozen=True)
class Fields:
    """Which columns say who, where and when: of the schema, or of `columns`."""

    id: str = "truck_id"
    lat: str = "lat"
    lon: str = "lon"
    time: str = "time"
    """A timestamp: the newest one counts, and with equal ones the record that was written last."""
    speed: str = ""
    """In km/h; empty: nothing is known of it."""


@dataclass(frozen=True)
class Sink:
    """Where the file `latest.json` goes."""

    path: str = ""
    """A folder of the machine where the driver runs; empty: kcluster's own folder for this job."""
    partition_by: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class Settings:
    """The whole file."""

    job: str
    topics: tuple[str, ...]
    name: str = "latest"
    start: str = "earliest"
    """Where a new job begins: earliest, latest, or an instant such as 2026-11-18T06:00:00Z."""
    every: str = "2s"
    """How often positions are brought up to date."""
    when_data_is_gone: Literal["stop", "continue"] = "continue"
    """When retention deleted records before they were read: they were old positions."""
    batch: Batch = field(default_factory=Batch)
    format: Format = field(default_factory=Format)
    columns: dict[str, str] = field(default_factory=dict)
    """Further columns as SQL: {time: timestamp_millis(sent_at)}."""
    rules: dict[str, str] = field(default_factory=dict)
    """Name and SQL condition; a record for which it is not true is left out, and counted."""
    fields: Fields = field(default_factory=Fields)
    sink: Sink = field(default_factory=Sink)
    checkpoint: str = ""
    """Where Spark remembers how far it has read; empty: in kcluster's own folder for this job."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further settings of the consumer, in Kafka's words."""
    spark: dict[str, str] = field(default_factory=dict)
    """Further settings of Spark: {spark.driver.memory: 2g}."""

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        yield from check_name(self.name)
        yield from self.batch.check()
        yield from self.format.check()
        yield from duration("every", self.every)
        if self.start not in ("earliest", "latest") and not INSTANT.fullmatch(self.start):
            yield f"start: {self.start} is neither earliest nor latest nor an instant such as 2026-11-18T06:00:00Z"
        if "://" in self.sink.path:
            yield f"sink.path: {self.sink.path} is no folder of the machine where the driver runs"
        known = {*self.format.names, *self.columns}
        for key in ("id", "lat", "lon", "time", "speed"):
            name = getattr(self.fields, key)
            if name not in known and (name or key != "speed"):
                yield f"fields.{key}: there is no column {name}; there are: {', '.join(sorted(known))}"
