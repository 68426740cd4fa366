"""Settings of the job `alerts`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from spark_jobs.settings import ingest
from spark_jobs.settings.common import Batch, RecordFormat, duration, milliseconds

REQUIRED_COLUMNS = ("truck_id", "lat", "lon", "time")
"""The columns that records need, from `format.schema` or `columns`."""

RULES = {
    "no_truck": "length(truck_id) > 0",
    # Before 1970 is an unset clock; times before the year 1 have no Python datetime and would stop the job.
    "no_time": "time >= timestamp_millis(0)",
    "bad_position": "lat between -90 and 90 and lon between -180 and 180",
}
"""Rules for every record, besides those of the file."""


@dataclass(frozen=True)
class Circle:
    """All points within a radius in kilometres."""

    lat: float
    lon: float
    km: float

    def check(self, where: str) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        yield from _place(where, self.lat, self.lon)
        if self.km <= 0:
            yield f"{where}.km: must be more than 0"


@dataclass(frozen=True)
class Box:
    """All points between two latitudes and two longitudes; with west > east across the date line."""

    south: float
    west: float
    north: float
    east: float

    def check(self, where: str) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        yield from _place(where, self.south, self.west)
        yield from _place(where, self.north, self.east)
        if self.south >= self.north:
            yield f"{where}: south must be less than north"


@dataclass(frozen=True)
class Area:
    """Where some trucks must be: inside any of the circles and boxes."""

    name: str
    trucks: str = "*"
    """Pattern of truck ids: truck-0001?, north-*; * for all trucks without an area of their own."""
    circles: tuple[Circle, ...] = ()
    boxes: tuple[Box, ...] = ()

    def check(self, where: str) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        if not self.circles and not self.boxes:
            yield f"{where}: needs circles or boxes"
        for number, circle in enumerate(self.circles):
            yield from circle.check(f"{where}.circles[{number}]")
        for number, box in enumerate(self.boxes):
            yield from box.check(f"{where}.boxes[{number}]")


@dataclass(frozen=True)
class Standing:
    """When a truck stands still too long."""

    after: str = "30m"
    metres: float = 100.0
    """Movement below this is standing; choose more than the error of GPS."""


@dataclass(frozen=True)
class Silent:
    """When a truck sends nothing for too long."""

    after: str = "10m"


@dataclass(frozen=True)
class AlertsBatch(Batch):
    """Batches small enough for the driver's memory."""

    max_records: int = 100_000


@dataclass(frozen=True)
class AlertsSettings:
    """All keys of the file."""

    job: str
    topics: tuple[str, ...]
    name: str = "alerts"
    start: str = "earliest"
    """Where a new checkpoint starts: earliest, latest, or a timestamp such as 2026-11-18T06:00:00Z."""
    every: str = "10s"
    """Time between batches without --once, and between checks for silent trucks on a quiet topic."""
    when_data_is_gone: Literal["stop", "continue"] = "stop"
    """What to do when retention deleted records before they were read."""
    areas: tuple[Area, ...] = ()
    """Alert on trucks that leave these areas."""
    border_km: float = 0.5
    """Kilometres outside at which a truck has left; it is back once it is inside."""
    standing: Standing | None = None
    """Alert on trucks that stand still."""
    silent: Silent | None = None
    """Alert on trucks that send nothing."""
    ended: bool = True
    """Send an alert also when an incident ends."""
    late: str = "2m"
    """The watermark's delay: alerts wait that long for records; later ones are counted and skipped."""
    ahead: str = "1m"
    """How far a truck's clock may be ahead; less than `late`, so that one clock cannot make other records late."""
    forget: str = "30d"
    """Time without records after which a truck is removed from the state."""
    alerts: str = ""
    """The topic for alerts; empty: the first topic's name with .alerts."""
    batch: AlertsBatch = field(default_factory=AlertsBatch)
    format: RecordFormat = field(
        default_factory=lambda: RecordFormat(
            schema={"truck_id": "string", "lat": "double", "lon": "double", "time": "timestamp"}
        )
    )
    columns: dict[str, str] = field(default_factory=dict)
    """Columns as SQL, for records with other field names: {truck_id: device, time: timestamp_millis(at)}."""
    rules: dict[str, str] = field(default_factory=dict)
    """Name and SQL condition; a record for which it is not true is counted under that name and skipped."""
    checkpoint: str = ""
    """Folder of the checkpoint; empty: in the job directory."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further consumer properties: {fetch.min.bytes: "65536"}."""
    spark: dict[str, str] = field(default_factory=dict)
    """Further Spark properties: {spark.driver.memory: 2g}."""

    @property
    def topic(self) -> str:
        """The topic for alerts."""
        return self.alerts or f"{self.topics[0]}.alerts"

    def reading(self) -> ingest.IngestSettings:
        """Settings with which records are read and checked as in an `ingest`."""
        clock = f"time <= least(_timestamp, current_timestamp()) + interval {milliseconds(self.ahead)} milliseconds"
        return ingest.IngestSettings(
            job="ingest",
            topics=self.topics,
            name=self.name,
            start=self.start,
            every=self.every,
            when_data_is_gone=self.when_data_is_gone,
            batch=self.batch,
            format=self.format,
            columns=self.columns,
            rules={**RULES, "clock_ahead": clock, **self.rules},
            kafka=self.kafka,
        )

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        yield from self.reading().check()
        yield from self._times()
        if self.topic in self.topics:
            yield f"alerts: {self.topic} is also in topics; name another topic"
        if not (self.areas or self.standing or self.silent):
            yield "no alert is configured; set areas, standing or silent"
        for number, area in enumerate(self.areas):
            yield from area.check(f"areas[{number}]")
        if self.batch.min_records:
            yield "batch.min_records: not supported by alerts; remove it"
        if self.border_km < 0:
            yield "border_km: must be 0 or more"
        if self.standing and self.standing.metres <= 0:
            yield "standing.metres: must be more than 0"
        for name in REQUIRED_COLUMNS:
            if name not in {*self.format.names, *self.columns}:
                yield f"format.schema: {name} is missing; add it, or compute it in columns"

    def _times(self) -> Iterator[str]:
        times = {"late": self.late, "ahead": self.ahead, "forget": self.forget}
        times |= {"standing.after": self.standing.after} if self.standing else {}
        times |= {"silent.after": self.silent.after} if self.silent else {}
        wrong = [finding for where, text in times.items() for finding in duration(where, text)]
        yield from wrong
        if not wrong and milliseconds(self.ahead) >= milliseconds(self.late):
            yield f"ahead: {self.ahead} must be less than late ({self.late})"


def _place(where: str, lat: float, lon: float) -> Iterator[str]:
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        yield f"{where}: {lat:g}, {lon:g} is not a valid latitude and longitude"
