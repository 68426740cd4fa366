"""The newest position of each truck: in a batch (DataFrame to DataFrame), and of all batches."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.runtime import durable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_jobs.settings.latest import Fields

FILE = "latest.json"
"""The file with all positions."""

_MOVED = 0.01
"""Kilometres between two positions from which a bearing is computed."""

_LAST = 253_402_300_799_000_000
"""The end of the year 9999, in microseconds since 1970."""


@dataclass(frozen=True)
class TruckPosition:
    """The newest position of a truck."""

    id: str
    lat: float
    lon: float
    time: int
    """Microseconds since 1970."""
    offset: int
    speed: float | None = None
    bearing: float | None = None
    """Direction of movement in degrees from north; None before it moved."""

    @property
    def age(self) -> tuple[int, int]:
        """The order of positions: event time, then offset."""
        return self.time, self.offset


def latest_in_batch(judged: DataFrame, fields: Fields) -> DataFrame:
    """The newest position of each truck in a batch; the row without an `id` counts records without a position."""
    from pyspark.sql import functions as sql

    lat, lon = (sql.col(name).cast("double") for name in (fields.lat, fields.lon))
    time = sql.unix_micros(sql.col(fields.time).cast("timestamp"))
    speed = sql.col(fields.speed).cast("double") if fields.speed else sql.lit(None).cast("double")
    # Valid coordinates and time, whatever the rules are: NaN compares greater than every number.
    valid = sql.col("_reason").isNull() & lat.between(-90, 90) & lon.between(-180, 180) & time.between(0, _LAST)
    position = sql.struct(
        lat.alias("lat"),
        lon.alias("lon"),
        time.alias("time"),
        sql.col("_offset").alias("offset"),
        sql.when(speed.between(0, 10_000), speed).alias("speed"),
    )
    last = sql.max_by(position, sql.struct(time, sql.col("_offset"))).alias("last")
    named = sql.when(valid, sql.col(fields.id).cast("string")).alias("id")
    return judged.groupBy(named).agg(last, sql.count(sql.lit(1)).alias("records"))


def merge(known: Mapping[str, TruckPosition], fresh: Iterable[TruckPosition]) -> dict[str, TruckPosition]:
    """The newest of known and new positions; idempotent, and independent of the order."""
    result = dict(known)
    for position in fresh:
        before = result.get(position.id)
        if before is None or position.age > before.age:
            result[position.id] = _heading(before, position)
    return result


def without_expired(known: Mapping[str, TruckPosition], within: int, now: float) -> dict[str, TruckPosition]:
    """Without trucks older than the newest one by `within` milliseconds; a clock that is ahead counts as now."""
    newest = max((position.time for position in known.values()), default=0)
    oldest = min(newest, round(now * 1_000_000)) - within * 1000
    return {name: position for name, position in known.items() if position.time >= oldest}


def write(folder: Path, known: Mapping[str, TruckPosition], *, batch: int, as_of: float, lag: int | None) -> None:
    """Write all positions atomically."""
    trucks = [{**vars(position), "time": _instant(position.time)} for position in known.values()]
    content = {"as_of": as_of, "batch": batch, "lag": lag, "trucks": sorted(trucks, key=lambda truck: str(truck["id"]))}
    folder.mkdir(parents=True, exist_ok=True)
    durable.write(folder / FILE, json.dumps(content, separators=(",", ":"), allow_nan=False))


def load(folder: Path) -> dict[str, TruckPosition]:
    """The positions of an earlier run; empty without a file."""
    try:
        trucks = json.loads((folder / FILE).read_text())["trucks"]
    except FileNotFoundError:
        return {}
    return {truck["id"]: TruckPosition(**{**truck, "time": _microseconds(truck["time"])}) for truck in trucks}


def _heading(before: TruckPosition | None, now: TruckPosition) -> TruckPosition:
    """The position with its bearing; the earlier bearing while the truck stands."""
    if before is None:
        return now
    north = math.radians(now.lat - before.lat)
    east = math.radians(now.lon - before.lon) * math.cos(math.radians(now.lat))
    moved = math.hypot(north, east) * 6371 >= _MOVED
    bearing = round(math.degrees(math.atan2(east, north)) % 360, 1) if moved else before.bearing
    return TruckPosition(**{**vars(now), "bearing": bearing})


def _instant(microseconds: int) -> str:
    instant = datetime.fromtimestamp(microseconds // 1_000_000, UTC).replace(microsecond=microseconds % 1_000_000)
    return instant.isoformat().replace("+00:00", "Z")


def _microseconds(instant: str) -> int:
    parsed = datetime.fromisoformat(instant)
    return round(parsed.replace(microsecond=0).timestamp()) * 1_000_000 + parsed.microsecond
