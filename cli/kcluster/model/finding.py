"""A finding: something wrong or doubtful in an inventory, where it is, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

WHO = "{who}"
"""Stands in messages for the names in `Finding.who`, so that one slip in a group is one finding, not one per host."""


class Severity(StrEnum):
    """An error refuses the inventory; a warning does so only when asked to be strict."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Location:
    """What a finding is about: a variable as it counts for a host or group, and a key inside of it."""

    subject: str = "all"
    """The name of a host or a group; "all" for the cluster."""
    variable: str = ""
    key: str = ""


@dataclass(frozen=True)
class Finding:
    """One finding of a rule."""

    message: str
    resolution: str = ""
    spot: Location = Location()
    severity: Severity = Severity.ERROR
    who: str = ""
    """The host it was found on, when others may have it from the same place."""


@dataclass(frozen=True)
class Reported:
    """A finding as people see it: with the file and line where it is written."""

    severity: Severity
    message: str
    place: str
    resolution: str

    @property
    def lines(self) -> list[str]:
        """What, where, and what to do."""
        return [
            f"{self.severity}: {self.message}",
            *([f"  at {self.place}"] if self.place else []),
            *([f"  try: {self.resolution}"] if self.resolution else []),
        ]


def warning(message: str, resolution: str = "", spot: Location | None = None) -> Finding:
    """A finding that refuses the inventory only when asked to be strict."""
    return Finding(message, resolution, spot or Location(), Severity.WARNING)


def report(findings: Iterable[Finding], locate: Callable[[Location], str]) -> tuple[Reported, ...]:
    """Findings with their places, errors first, by file and line; what many hosts have from one place is one."""
    merged: dict[tuple[Severity, str, str, str], list[str]] = {}
    for found in findings:
        key = (found.severity, found.message, locate(found.spot), found.resolution)
        merged.setdefault(key, []).append(found.who)
    reported = [
        Reported(severity, message.replace(WHO, some(who)), place, resolution.replace(WHO, who[-1]))
        for (severity, message, place, resolution), who in merged.items()
    ]
    return tuple(sorted(reported, key=lambda each: (each.severity is not Severity.ERROR, _by_line(each.place))))


def some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    all_names = list(dict.fromkeys(names))
    if len(all_names) > 4:
        return f"{', '.join(all_names[:3])} and {len(all_names) - 3} others"
    return " and ".join(part for part in (", ".join(all_names[:-1]), all_names[-1]) if part)


def _by_line(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line or 0)
