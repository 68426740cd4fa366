"""Settings of the job `latest`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from spark_jobs.settings.common import duration
from spark_jobs.settings.source import Source


@dataclass(frozen=True)
class Fields:
    """The columns with id, position and time: of the schema, or of `columns`."""

    id: str = "truck_id"
    lat: str = "lat"
    lon: str = "lon"
    time: str = "time"
    """A timestamp: the newest position counts; of equal times the record with the higher offset."""
    speed: str = ""
    """In km/h; empty: not known."""


@dataclass(frozen=True)
class LatestSinkSettings:
    """Where `latest.json` is written."""

    path: str = ""
    """A folder of the driver's machine; empty: a folder of kcluster for this job."""
    partition_by: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class LatestSettings(Source):
    """All keys of the file; those for reading are in source.py."""

    name: str = "latest"
    every: str = "2s"
    """Time between two updates of the positions."""
    when_data_is_gone: Literal["stop", "continue"] = "continue"
    """What to do when retention deleted records before they were read: they held old positions."""
    forget: str = "30d"
    """Age, relative to the newest position of all, at which a truck is removed."""
    fields: Fields = field(default_factory=Fields)
    sink: LatestSinkSettings = field(default_factory=LatestSinkSettings)

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        yield from super().check()
        yield from duration("forget", self.forget)
        if "://" in self.sink.path:
            yield f"sink.path: {self.sink.path} is not a folder of the driver's machine"
        known = self.column_names()
        for key in ("id", "lat", "lon", "time", "speed"):
            name = getattr(self.fields, key)
            if name not in known and (name or key != "speed"):
                yield f"fields.{key}: unknown column {name}; known: {', '.join(sorted(known))}"
