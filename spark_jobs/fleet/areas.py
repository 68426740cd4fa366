"""Areas of trucks, and distances in kilometres."""

from __future__ import annotations

import math
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_jobs.settings.alerts import Area, Box

ALL_TRUCKS = "*"
"""The pattern of areas for trucks without an area of their own."""

CACHED_TRUCKS = 1 << 16
"""Trucks whose areas are cached."""

EARTH_DIAMETER_KM = 12742.0
"""The earth's diameter in kilometres."""


class Areas:
    """The areas of each truck."""

    def __init__(self, areas: tuple[Area, ...]) -> None:
        self._areas = areas
        self.of = lru_cache(CACHED_TRUCKS)(self._of)
        """The areas of a truck; empty: no restriction."""

    def outside(self, truck: str, lat: float, lon: float) -> float:
        """Kilometres to the nearest area of the truck; 0 inside one, and for a truck without areas."""
        return min((distance_outside(area, lat, lon) for area in self.of(truck)), default=0.0)

    def _of(self, truck: str) -> tuple[Area, ...]:
        own = tuple(area for area in self._areas if area.trucks != ALL_TRUCKS and fnmatchcase(truck, area.trucks))
        return own or tuple(area for area in self._areas if area.trucks == ALL_TRUCKS)


def distance_outside(area: Area, lat: float, lon: float) -> float:
    """Kilometres to an area; 0 inside."""
    circles = (distance(lat, lon, circle.lat, circle.lon) - circle.km for circle in area.circles)
    boxes = (_to_box(box, lat, lon) for box in area.boxes)
    return max(0.0, min((*circles, *boxes)))


def distance(lat: float, lon: float, to_lat: float, to_lon: float) -> float:
    """Kilometres between two places, as the crow flies."""
    chord = math.sin(math.radians(to_lat - lat) / 2) ** 2
    chord += (
        math.cos(math.radians(lat)) * math.cos(math.radians(to_lat)) * math.sin(math.radians(to_lon - lon) / 2) ** 2
    )
    return EARTH_DIAMETER_KM * math.asin(math.sqrt(min(1.0, chord)))


def _to_box(box: Box, lat: float, lon: float) -> float:
    """Kilometres to the nearest point of a box; near the poles a little too large at its corners."""
    width = (box.east - box.west) % 360
    inside = (lon - box.west) % 360 <= width
    near_lat = min(max(lat, box.south), box.north)
    if inside:
        return distance(lat, lon, near_lat, lon)
    return min(distance(lat, lon, near_lat, box.west), distance(lat, lon, near_lat, box.east))
