"""The simulated trucks of the demo; the same seed and begin give the same bytes.

Trucks drive between towns on roads with bends, each stretch at its own speed, and rest where they arrive. The reported
speed is exact: the distance between two positions divided by the time between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from random import Random

Place = tuple[float, float]
"""Latitude and longitude in degrees."""

TOWNS: tuple[Place, ...] = (
    (53.551, 9.994),  # Hamburg
    (53.079, 8.802),  # Bremen
    (54.323, 10.123),  # Kiel
    (54.092, 12.099),  # Rostock
    (53.629, 11.415),  # Schwerin
    (53.145, 8.214),  # Oldenburg
    (53.557, 13.261),  # Neubrandenburg
    (52.279, 8.047),  # Osnabrück
    (52.376, 9.732),  # Hannover
    (52.269, 10.521),  # Braunschweig
    (52.121, 11.628),  # Magdeburg
    (52.520, 13.405),  # Berlin
    (52.347, 14.550),  # Frankfurt (Oder)
    (51.961, 7.628),  # Münster
    (52.021, 8.532),  # Bielefeld
    (51.514, 7.465),  # Dortmund
    (51.227, 6.773),  # Düsseldorf
    (50.938, 6.960),  # Köln
    (51.313, 9.481),  # Kassel
    (51.541, 9.916),  # Göttingen
    (51.482, 11.970),  # Halle
    (51.340, 12.375),  # Leipzig
    (51.760, 14.333),  # Cottbus
    (51.051, 13.738),  # Dresden
    (50.827, 12.921),  # Chemnitz
    (50.985, 11.030),  # Erfurt
    (50.555, 9.681),  # Fulda
    (50.587, 8.678),  # Gießen
    (50.357, 7.589),  # Koblenz
    (50.110, 8.682),  # Frankfurt am Main
    (49.793, 9.953),  # Würzburg
    (49.749, 6.637),  # Trier
    (49.234, 6.997),  # Saarbrücken
    (49.488, 8.466),  # Mannheim
    (49.948, 11.578),  # Bayreuth
    (49.452, 11.077),  # Nürnberg
    (49.013, 12.102),  # Regensburg
    (48.574, 13.460),  # Passau
    (49.009, 8.404),  # Karlsruhe
    (48.776, 9.183),  # Stuttgart
    (48.402, 9.987),  # Ulm
    (48.371, 10.898),  # Augsburg
    (48.137, 11.575),  # München
    (47.857, 12.128),  # Rosenheim
    (47.727, 10.314),  # Kempten
    (47.999, 7.842),  # Freiburg
)
"""The towns between which trucks drive: far enough from the coast that roads stay on land."""

NEAR, BEND, STRETCH = 4, 0.07, 12.0
"""Least roads of a town; deviation of a road as a share of its length; kilometres between bends."""

SPEEDS, REST, PAUSE = (52.0, 88.0), (600.0, 3600.0), (60.0, 600.0)
"""km/h on a stretch; seconds of a rest in a town; seconds of a halt on the way."""

FAULTS = ("truncated", "empty", "wrong type", "impossible place", "clock ahead")
"""The kinds of faulty records."""


def reports(trucks: int, every: float, faulty: float, seed: int, begin: float) -> Iterator[tuple[bytes, bytes]]:
    """Key and value of one record after the other: each round all trucks, spread over the seconds of the round."""
    chance = Random(f"faults {seed}")
    fleet = [(f"truck-{number:05d}", _driving(number, every, seed)) for number in range(1, trucks + 1)]
    gap, count, second, day = every / trucks, 0, -1, ""
    while True:
        for name, drive in fleet:
            milliseconds = round((begin + count * gap) * 1000)
            if milliseconds // 1000 != second:
                second = milliseconds // 1000
                day = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            value = f'{{"truck_id":"{name}",{next(drive)},"time":"{day}.{milliseconds % 1000:03d}Z"}}'
            if faulty and chance.random() < faulty:
                value = corrupted(value, chance.choice(FAULTS))
            yield name.encode(), value.encode()
            count += 1


def corrupted(value: str, fault: str) -> str:
    """The record with a fault: two kinds that cannot be parsed, three that break a rule or the schema."""
    spoil: dict[str, Callable[[str], str]] = {
        "truncated": lambda value: value[: len(value) * 2 // 3],
        "empty": lambda value: "",
        "wrong type": lambda value: value.replace('"lat":', '"lat":"north of ').replace(',"lon"', '","lon"'),
        "impossible place": lambda value: value.replace('"lat":', '"lat":1'),  # 50 degrees become 150
        "clock ahead": lambda value: value.replace('"time":"20', '"time":"21'),
    }
    return spoil[fault](value)


def _driving(number: int, every: float, seed: int) -> Iterator[str]:
    """One truck's positions, `every` seconds apart, as the middle of its JSON."""
    luck = Random(f"truck {seed} {number}")
    before = town = luck.choice(TOWNS)
    done = luck.random()  # of the first road: trucks begin anywhere
    if done < 0.1:
        yield from _standing(town, luck.uniform(0, REST[1]), every)
    while True:
        choice = [each for each in _neighbours()[town] if each != before] or [before]
        before, town = town, luck.choice(choice)
        road = _road(before, town)
        yield from _along(road[int(done * (len(road) - 1)) :], luck, every)
        yield from _standing(town, luck.uniform(*REST), every)
        done = 0.0


def _along(road: list[Place], luck: Random, every: float) -> Iterator[str]:
    """The positions on a road, bend by bend."""
    for (lat, lon), (to_lat, to_lon) in pairwise(road):
        length = distance((lat, lon), (to_lat, to_lon))
        steps = max(1, math.ceil(length / luck.uniform(*SPEEDS) * 3600 / every))
        speed = f'"speed":{length / steps / every * 3600:.1f}'
        north, east = (to_lat - lat) / steps, (to_lon - lon) / steps
        for step in range(steps):
            yield f'"lat":{lat + north * step:.6f},"lon":{lon + east * step:.6f},{speed}'
        if luck.random() < 0.02:
            yield from _standing((to_lat, to_lon), luck.uniform(*PAUSE), every)


def _standing(place: Place, seconds: float, every: float) -> Iterator[str]:
    """The same position, for a while."""
    report = f'"lat":{place[0]:.6f},"lon":{place[1]:.6f},"speed":0.0'
    for _ in range(math.ceil(seconds / every)):
        yield report


@cache
def _neighbours() -> dict[Place, list[Place]]:
    """To which towns a road leads: the nearest ones, and those to which this one is near."""
    near = {
        town: sorted((each for each in TOWNS if each != town), key=lambda each: distance(town, each))[:NEAR]
        for town in TOWNS
    }
    return {town: [each for each in TOWNS if each in near[town] or town in near[each]] for town in TOWNS}


@cache
def _road(start: Place, end: Place) -> list[Place]:
    """The bends of the road, the same for all trucks and both ways."""
    if start > end:
        return _road(end, start)[::-1]
    luck = Random(f"{start} {end}")
    parts = max(2, round(distance(start, end) / STRETCH))
    waves = [(luck.uniform(-BEND, BEND), wave) for wave in (1, 2, 3)]
    lat, lon = end[0] - start[0], end[1] - start[1]
    narrow = math.cos(math.radians(start[0]))
    road = []
    for part in range(parts + 1):
        way = part / parts
        aside = sum(height / wave * math.sin(math.pi * wave * way) for height, wave in waves)
        road.append((start[0] + lat * way - aside * lon * narrow, start[1] + lon * way + aside * lat / narrow))
    return road


def distance(one: Place, other: Place) -> float:
    """Kilometres between two places, as the crow flies."""
    north, east = math.radians(other[0] - one[0]), math.radians(other[1] - one[1])
    chord = math.sin(north / 2) ** 2
    chord += math.cos(math.radians(one[0])) * math.cos(math.radians(other[0])) * math.sin(east / 2) ** 2
    return 12742 * math.asin(math.sqrt(chord))
