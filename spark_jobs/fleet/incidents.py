"""From positions to incidents, each of which starts once and ends at most once; pure, without Spark and Kafka.

Positions wait until the watermark has passed them, and are then evaluated for each truck in the order of event time. So
neither the order of arrival nor the cut into batches matters: the same positions give the same incidents with the same
ids. Positions older than the watermark are late: counted and skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from spark_jobs.fleet.areas import Areas, distance
from spark_jobs.settings.common import milliseconds

if TYPE_CHECKING:
    from spark_jobs.settings.alerts import AlertsSettings

Kind = Literal["area", "standing", "silent"]

Fix = tuple[int, float, float]
"""Event time in milliseconds, latitude, longitude."""


@dataclass(frozen=True)
class Alert:
    """The start or the end of an incident."""

    truck: str
    kind: Kind
    began: int
    ended: int | None
    fix: Fix
    """The position with which it was detected."""
    km: float = 0.0
    """Kilometres outside the area."""

    @property
    def incident(self) -> str:
        """The id of the incident: the same for start and end, and in every run."""
        return f"{self.truck}|{self.kind}|{self.began}"


@dataclass
class Truck:
    """The state of a truck; the order of the fields is the file format."""

    last: Fix | None = None
    """The newest evaluated position."""
    silent: bool = False
    outside: int | None = None
    """Event time since which it is outside its area."""
    stood: Fix | None = None
    """The position since which it has not moved."""
    moved: Fix | None = None
    """The first position away from there: an error of GPS, or the start of a journey."""
    standing: bool = False
    """Whether the incident `standing` has started."""
    waiting: list[Fix] = field(default_factory=list)
    """Positions after the watermark."""


class IncidentTracker:
    """The state of all trucks, and the watermark."""

    def __init__(self, settings: AlertsSettings, saved: dict[str, Any] | None = None) -> None:
        self._areas, self._border = Areas(settings.areas), settings.border_km
        self._late, self._forget = milliseconds(settings.late), milliseconds(settings.forget)
        self._stand = milliseconds(settings.standing.after) if settings.standing else None
        self._metres = settings.standing.metres if settings.standing else 0.0
        self._wait = milliseconds(settings.silent.after) if settings.silent else None
        known = saved or {"watermark": None, "newest": None, "trucks": {}}
        self.watermark: int | None = known["watermark"]
        self.newest: int | None = known["newest"]
        self.trucks = {name: _truck(values) for name, values in known["trucks"].items()}

    def to_json(self) -> dict[str, Any]:
        """The whole state for JSON."""
        trucks = {name: list(vars(truck).values()) for name, truck in self.trucks.items()}
        return {"watermark": self.watermark, "newest": self.newest, "trucks": trucks}

    def add_batch(
        self, positions: Iterable[tuple[str, int, list[Fix]]], counts: Counter[str], *, more: bool
    ) -> list[Alert]:
        """Add the positions of a batch by truck and partition; returns the alerts up to the new watermark.

        During a backlog (`more`) one partition may be far ahead of another, so the slowest sets the watermark. Else
        the newest position does: a truck whose clock is behind must not stop the watermark.
        """
        reached: dict[int, int] = {}
        for name, partition, fixes in positions:
            reached[partition] = max(reached.get(partition, 0), max(fix[0] for fix in fixes))
            self._keep(name, fixes, counts)
        if not reached:
            return []
        self.newest = max(self.newest or 0, *reached.values())
        return self._advance((min if more else max)(reached.values()) - self._late)

    def advance_idle(self, elapsed: int) -> list[Alert]:
        """The alerts when nothing was received for `elapsed` milliseconds: time advances from the newest position."""
        if self.newest is None or elapsed < self._late:
            return []
        return self._advance(self.newest, self.newest + elapsed - self._late)

    def _keep(self, name: str, fixes: list[Fix], counts: Counter[str]) -> None:
        """Store the positions of a truck, without duplicates and late ones."""
        truck = self.trucks.get(name) or Truck()
        known = {fix[0] for fix in truck.waiting} | ({truck.last[0]} if truck.last else set())
        for fix in fixes:
            if fix[0] in known:
                counts["duplicates"] += 1
            elif self.watermark is not None and fix[0] <= self.watermark:
                counts["late"] += 1
            else:
                known.add(fix[0])
                truck.waiting.append(fix)
                self.trucks[name] = truck

    def _advance(self, watermark: int, now: int = 0) -> list[Alert]:
        """Advance the watermark; silence is evaluated at `now` if that is later."""
        self.watermark = watermark if self.watermark is None else max(watermark, self.watermark)
        now = max(self.watermark, now)
        alerts = [alert for name, truck in self.trucks.items() for alert in self._alerts_of(name, truck, now)]
        for name in [name for name, truck in self.trucks.items() if self._forgettable(truck, now)]:
            del self.trucks[name]
        return sorted(alerts, key=lambda alert: (alert.fix[0], alert.truck, alert.kind))

    def _forgettable(self, truck: Truck, now: int) -> bool:
        return bool(truck.last and not truck.waiting and now - truck.last[0] > self._forget)

    def _alerts_of(self, name: str, truck: Truck, now: int) -> Iterator[Alert]:
        """The alerts of one truck up to the watermark, and silence at `now`."""
        if truck.waiting:
            due = sorted(fix for fix in truck.waiting if fix[0] <= (self.watermark or 0))
            truck.waiting = [fix for fix in truck.waiting if fix[0] > (self.watermark or 0)]
            for fix in due:
                yield from self._step(name, truck, fix)
        yield from self._silence(name, truck, now)

    def _step(self, name: str, truck: Truck, fix: Fix) -> Iterator[Alert]:
        """The alerts of one position."""
        yield from self._silence(name, truck, fix[0])
        if truck.silent and truck.last:
            truck.silent = False
            yield Alert(name, "silent", truck.last[0], fix[0], fix)
        yield from self._left(name, truck, fix)
        if self._stand is not None:
            yield from self._stood(name, truck, fix, self._stand)
        truck.last = fix

    def _silence(self, name: str, truck: Truck, now: int) -> Iterator[Alert]:
        """Start of `silent` when nothing was received for longer than allowed."""
        if self._wait is not None and truck.last and not truck.silent and now - truck.last[0] > self._wait:
            truck.silent = True
            yield Alert(name, "silent", truck.last[0], None, truck.last)

    def _left(self, name: str, truck: Truck, fix: Fix) -> Iterator[Alert]:
        """Start of `area` beyond the border, end inside; no change in between."""
        km = self._areas.outside(name, fix[1], fix[2])
        if truck.outside is None and km > self._border:
            truck.outside = fix[0]
            yield Alert(name, "area", fix[0], None, fix, km)
        elif truck.outside is not None and km == 0:
            began, truck.outside = truck.outside, None
            yield Alert(name, "area", began, fix[0], fix)

    def _stood(self, name: str, truck: Truck, fix: Fix, after: int) -> Iterator[Alert]:
        """Start or end of `standing`: one position elsewhere may be wrong; with a second one the truck has moved."""
        if truck.stood is None:
            truck.stood = fix
        if self._near(truck.stood, fix):
            truck.moved = None
        elif truck.moved is None:
            truck.moved = fix
        else:
            yield from self._moved(name, truck, truck.moved, fix)
        if not truck.standing and not truck.moved and fix[0] - truck.stood[0] >= after:
            truck.standing = True
            yield Alert(name, "standing", truck.stood[0], None, fix)

    def _moved(self, name: str, truck: Truck, first: Fix, fix: Fix) -> Iterator[Alert]:
        """End of `standing`; the truck may stand again since the first position away or since this one."""
        if truck.standing and truck.stood:
            truck.standing = False
            yield Alert(name, "standing", truck.stood[0], first[0], first)
        truck.stood, truck.moved = (first, None) if self._near(first, fix) else (fix, None)

    def _near(self, one: Fix, other: Fix) -> bool:
        return distance(*one[1:], *other[1:]) * 1000 < self._metres


def _truck(values: list[Any]) -> Truck:
    """A truck from its saved values."""
    last, silent, outside, stood, moved, standing, waiting = values
    return Truck(_fix(last), silent, outside, _fix(stood), _fix(moved), standing, [_typed_fix(fix) for fix in waiting])


def _fix(values: list[Any] | None) -> Fix | None:
    return None if values is None else _typed_fix(values)


def _typed_fix(values: list[Any]) -> Fix:
    when, lat, lon = values
    return int(when), float(lat), float(lon)
