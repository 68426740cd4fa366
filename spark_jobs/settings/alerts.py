"""What the file of an `alerts` job may say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from spark_jobs.settings import ingest
from spark_jobs.settings.common import Batch, RecordFormat, duration, milliseconds

REQUIRED_COLUMNS = ("truck_id", "lat", "lon", "time")
"""The columns that a record must have, from `format.schema` or `columns`."""

RULES = {
    "no_truck": "length(truck_id) > 0",
    # Not before 1970, which is an unset clock: Python tells no time before the year 1, and the job would never go on.
    "no_time": "time >= timestamp_millis(0)",
    "bad_position": "lat between -90 and 90 and lon between -180 and 180",
}
"""What holds for each record, whatever the file says."""


@dataclass(frozen=True)
class Circle:
    """Everything within some kilometres of a place."""

    lat: float
    lon: float
    km: float

    def check(self, where: str) -> Iterator[str]:
        """What does not fit together."""
        yield from _place(where, self.lat, self.lon)
        if self.km <= 0:
            yield f"{where}.km: must be more than 0"


@dataclass(frozen=True)
class Box:
    """Everything between two latitudes and two longitudes; with west > east it goes over the date line."""

    south: float
    west: float
    north: float
    east: float

    def check(self, where: str) -> Iterator[str]:
        """What does not fit together."""
        yield from _place(where, self.south, self.west)
        yield from _place(where, self.north, self.east)
        if self.south >= self.north:
            yield f"{where}: south must be less than north"


@dataclass(frozen=True)
class Area:
    """Where some trucks belong: inside any of the circles and boxes."""

    name: str
    trucks: str = "*"
    """Which trucks, as a pattern of their ids: truck-0001?, north-*; * for all that have no area of their own."""
    circles: tuple[Circle, ...] = ()
    boxes: tuple[Box, ...] = ()

    def check(self, where: str) -> Iterator[str]:
        """What does not fit together."""
        if not self.circles and not self.boxes:
            yield f"{where}: needs circles or boxes"
        for number, circle in enumerate(self.circles):
            yield from circle.check(f"{where}.circles[{number}]")
        for number, box in enumerate(self.boxes):
            yield from box.check(f"{where}.boxes[{number}]")


@dataclass(frozen=True)
class Standing:
    """A truck stands still too long."""

    after: str = "30m"
    metres: float = 100.0
    """Moving less than this is standing; more than what GPS is wrong by."""


@dataclass(frozen=True)
class Silent:
    """A truck says nothing for too long."""

    after: str = "10m"


@dataclass(frozen=True)
class AlertsBatch(Batch):
    """Batches whose positions fit into the driver."""

    max_records: int = 100_000


@dataclass(frozen=True)
class AlertsSettings:
    """The whole file."""

    job: str
    topics: tuple[str, ...]
    name: str = "alerts"
    start: str = "earliest"
    """Where a new job begins: earliest, latest, or an instant such as 2026-11-18T06:00:00Z."""
    every: str = "10s"
    """How often a job that stays takes a batch, and looks whether a quiet topic has trucks that are silent by now."""
    when_data_is_gone: Literal["stop", "continue"] = "stop"
    """When retention deleted records before they were read."""
    areas: tuple[Area, ...] = ()
    """Tell of trucks that leave where they belong."""
    border_km: float = 0.5
    """How far outside a truck must be to have left; it is back when it is really inside."""
    standing: Standing | None = None
    """Tell of trucks that stand still."""
    silent: Silent | None = None
    """Tell of trucks that say nothing."""
    ended: bool = True
    """Tell also when an incident is over."""
    late: str = "2m"
    """How long records may be under way; alerts wait that long for them, what comes later is counted and left out."""
    ahead: str = "1m"
    """How far a truck's clock may be ahead; less than `late`, so that no truck's clock makes the others late."""
    forget: str = "30d"
    """After that long without a word a truck is forgotten."""
    alerts: str = ""
    """The topic for the alerts; empty: the first topic's name and .alerts."""
    batch: AlertsBatch = field(default_factory=AlertsBatch)
    format: RecordFormat = field(
        default_factory=lambda: RecordFormat(
            schema={"truck_id": "string", "lat": "double", "lon": "double", "time": "timestamp"}
        )
    )
    columns: dict[str, str] = field(default_factory=dict)
    """Columns as SQL, for records with other names: {truck_id: device, time: timestamp_millis(at)}."""
    rules: dict[str, str] = field(default_factory=dict)
    """Name and SQL condition; a record for which it is not true is counted under that name and left out."""
    checkpoint: str = ""
    """Where Spark and the job remember; empty: in kcluster's own folder for this job."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further settings of the consumer, in Kafka's words: {fetch.min.bytes: "65536"}."""
    spark: dict[str, str] = field(default_factory=dict)
    """Further settings of Spark: {spark.driver.memory: 2g}."""

    @property
    def topic(self) -> str:
        """Where the alerts go."""
        return self.alerts or f"{self.topics[0]}.alerts"

    def reading(self) -> ingest.IngestSettings:
        """How the records are read and judged: as `ingest` does it."""
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
        """What does not fit together."""
        yield from self.reading().check()
        yield from self._times()
        if self.topic in self.topics:
            yield f"alerts: {self.topic} is one of the topics that are read"
        if not (self.areas or self.standing or self.silent):
            yield "the file asks for no alert; write areas, standing or silent"
        for number, area in enumerate(self.areas):
            yield from area.check(f"areas[{number}]")
        if self.batch.min_records:
            yield "batch.min_records: alerts do not wait; leave it out"
        if self.border_km < 0:
            yield "border_km: must be 0 or more"
        if self.standing and self.standing.metres <= 0:
            yield "standing.metres: must be more than 0"
        for name in REQUIRED_COLUMNS:
            if name not in {*self.format.names, *self.columns}:
                yield f"format.schema: {name} is missing; name it there, or say in columns how it is made"

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
        yield f"{where}: {lat:g}, {lon:g} is no place on earth"
