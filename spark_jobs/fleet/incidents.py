"""What happens to trucks: from their positions to incidents, each of which begins once and ends at most once.

Positions are kept until the watermark has passed them, and then looked at truck by truck in the order of their event
time. So it does not matter in which order they came, nor how they were cut into batches: the same positions give the
same incidents with the same ids. What comes when the watermark has passed already is late: counted and left out.
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
"""When, in milliseconds, and where: latitude and longitude."""


@dataclass(frozen=True)
class Alert:
    """An incident began, or it ended."""

    truck: str
    kind: Kind
    began: int
    ended: int | None
    fix: Fix
    """Where the truck was when that was known."""
    km: float = 0.0
    """How far outside its area it was."""

    @property
    def incident(self) -> str:
        """The same for the beginning and the end, and whoever works it out."""
        return f"{self.truck}|{self.kind}|{self.began}"


@dataclass
class Truck:
    """What is saved of a truck."""

    last: Fix | None = None
    """The newest position that was looked at."""
    silent: bool = False
    outside: int | None = None
    """Since when it is outside its area."""
    stood: Fix | None = None
    """Since when and where it has not moved."""
    moved: Fix | None = None
    """The first position away from there: a wrong one, or the beginning of a journey."""
    standing: bool = False
    """Whether it was values that the truck stands."""
    waiting: list[Fix] = field(default_factory=list)
    """Positions that the watermark has not reached."""


class IncidentTracker:
    """All trucks, and how far their time has come."""

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
        """Everything that the next batch must know, for JSON."""
        trucks = {name: list(vars(truck).values()) for name, truck in self.trucks.items()}
        return {"watermark": self.watermark, "newest": self.newest, "trucks": trucks}

    def add_batch(
        self, positions: Iterable[tuple[str, int, list[Fix]]], counts: Counter[str], *, more: bool
    ) -> list[Alert]:
        """The positions of a batch, by truck and partition; what they tell, now that time has come further.

        When there is `more` to read, one partition may be far ahead of another, so the slowest counts. Else everything
        that was there was read, and the newest counts: a truck whose clock is behind cannot hold time up.
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
        """What there is to tell when nothing came for some milliseconds: time goes on from the newest position."""
        if self.newest is None or elapsed < self._late:
            return []
        return self._advance(self.newest, self.newest + elapsed - self._late)

    def _keep(self, name: str, fixes: list[Fix], counts: Counter[str]) -> None:
        """Keep a truck's positions until their turn, unless they are known or late."""
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
        """Let time come as far as the watermark; silence is judged there, or later."""
        self.watermark = watermark if self.watermark is None else max(watermark, self.watermark)
        now = max(self.watermark, now)
        alerts = [alert for name, truck in self.trucks.items() for alert in self._alerts_of(name, truck, now)]
        for name in [name for name, truck in self.trucks.items() if self._forgettable(truck, now)]:
            del self.trucks[name]
        return sorted(alerts, key=lambda alert: (alert.fix[0], alert.truck, alert.kind))

    def _forgettable(self, truck: Truck, now: int) -> bool:
        return bool(truck.last and not truck.waiting and now - truck.last[0] > self._forget)

    def _alerts_of(self, name: str, truck: Truck, now: int) -> Iterator[Alert]:
        """Everything about one truck up to the watermark, and whether it is silent by now."""
        if truck.waiting:
            due = sorted(fix for fix in truck.waiting if fix[0] <= (self.watermark or 0))
            truck.waiting = [fix for fix in truck.waiting if fix[0] > (self.watermark or 0)]
            for fix in due:
                yield from self._step(name, truck, fix)
        yield from self._silence(name, truck, now)

    def _step(self, name: str, truck: Truck, fix: Fix) -> Iterator[Alert]:
        """One position."""
        yield from self._silence(name, truck, fix[0])
        if truck.silent and truck.last:
            truck.silent = False
            yield Alert(name, "silent", truck.last[0], fix[0], fix)
        yield from self._left(name, truck, fix)
        if self._stand is not None:
            yield from self._stood(name, truck, fix, self._stand)
        truck.last = fix

    def _silence(self, name: str, truck: Truck, now: int) -> Iterator[Alert]:
        """A truck of which nothing came for longer than it may."""
        if self._wait is not None and truck.last and not truck.silent and now - truck.last[0] > self._wait:
            truck.silent = True
            yield Alert(name, "silent", truck.last[0], None, truck.last)

    def _left(self, name: str, truck: Truck, fix: Fix) -> Iterator[Alert]:
        """Out is who is beyond the border; back is who is inside: in between nothing changes."""
        km = self._areas.outside(name, fix[1], fix[2])
        if truck.outside is None and km > self._border:
            truck.outside = fix[0]
            yield Alert(name, "area", fix[0], None, fix, km)
        elif truck.outside is not None and km == 0:
            began, truck.outside = truck.outside, None
            yield Alert(name, "area", began, fix[0], fix)

    def _stood(self, name: str, truck: Truck, fix: Fix, after: int) -> Iterator[Alert]:
        """One position elsewhere may be wrong; with the second one the truck has moved, at the time of the first."""
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
        """The truck is elsewhere, and may stand there since the first position away or since this one."""
        if truck.standing and truck.stood:
            truck.standing = False
            yield Alert(name, "standing", truck.stood[0], first[0], first)
        truck.stood, truck.moved = (first, None) if self._near(first, fix) else (fix, None)

    def _near(self, one: Fix, other: Fix) -> bool:
        return distance(*one[1:], *other[1:]) * 1000 < self._metres


def _truck(values: list[Any]) -> Truck:
    """A truck as it was saved."""
    last, silent, outside, stood, moved, standing, waiting = values
    return Truck(_fix(last), silent, outside, _fix(stood), _fix(moved), standing, [_typed_fix(fix) for fix in waiting])


def _fix(values: list[Any] | None) -> Fix | None:
    return None if values is None else _typed_fix(values)


def _typed_fix(values: list[Any]) -> Fix:
    when, lat, lon = values
    return int(when), float(lat), float(lon)
