"""What the file of a `latest` job may say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from spark_jobs.settings.common import duration
from spark_jobs.settings.source import Source


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
class LatestSinkSettings:
    """Where the file `latest.json` goes."""

    path: str = ""
    """A folder of the machine where the driver runs; empty: kcluster's own folder for this job."""
    partition_by: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class LatestSettings(Source):
    """The whole file; what it says of reading is in source.py."""

    name: str = "latest"
    every: str = "2s"
    """How often positions are brought up to date."""
    when_data_is_gone: Literal["stop", "continue"] = "continue"
    """When retention deleted records before they were read: they were old positions."""
    forget: str = "30d"
    """A truck is forgotten when it has said nothing for that long, by the newest position of all."""
    fields: Fields = field(default_factory=Fields)
    sink: LatestSinkSettings = field(default_factory=LatestSinkSettings)

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        yield from super().check()
        yield from duration("forget", self.forget)
        if "://" in self.sink.path:
            yield f"sink.path: {self.sink.path} is no folder of the machine where the driver runs"
        known = self.column_names()
        for key in ("id", "lat", "lon", "time", "speed"):
            name = getattr(self.fields, key)
            if name not in known and (name or key != "speed"):
                yield f"fields.{key}: there is no column {name}; there are: {', '.join(sorted(known))}"
