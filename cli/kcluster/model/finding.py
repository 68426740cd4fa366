"""A finding: an error or a warning about an inventory, with its location and its fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kcluster.model.snippet import Snippet, Syntax

WHO = "{who}"
"""The placeholder for the names in `Finding.who`: one mistake in a group is one finding, not one for each host."""

SNIPPET = "{snippet}"
"""The placeholder for `Finding.snippet` in a resolution."""


class Severity(StrEnum):
    """An error refuses the inventory; a warning does so with --strict only."""

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
    """The host it is about; findings of several hosts from the same line are reported as one."""
    snippet: Snippet | None = None
    """What to write; shown in the syntax of the location."""


@dataclass(frozen=True)
class Reported:
    """A finding with the file and line of its location."""

    severity: Severity
    message: str
    place: str
    resolution: str

    @property
    def lines(self) -> list[str]:
        """The message, the place and the fix, a line each."""
        return [
            f"{self.severity}: {self.message}",
            *([f"  at {self.place}"] if self.place else []),
            *([f"  try: {self.resolution}"] if self.resolution else []),
        ]


def warning(message: str, resolution: str = "", spot: Location | None = None) -> Finding:
    """A finding that refuses the inventory with --strict only."""
    return Finding(message, resolution, spot or Location(), Severity.WARNING)


def report(
    findings: Iterable[Finding], locate: Callable[[Location], str], syntax: Callable[[Location], Syntax]
) -> tuple[Reported, ...]:
    """Findings with file and line, errors first, then by line; equal ones of several hosts from one line are merged."""
    merged: dict[tuple[Severity, str, str, str], list[str]] = {}
    for found in findings:
        key = (found.severity, found.message, locate(found.spot), _resolution(found, syntax))
        merged.setdefault(key, []).append(found.who)
    reported = [
        Reported(severity, message.replace(WHO, some(who)), place, resolution.replace(WHO, who[-1]))
        for (severity, message, place, resolution), who in merged.items()
    ]
    return tuple(sorted(reported, key=lambda each: (each.severity is not Severity.ERROR, _by_line(each.place))))


def _resolution(found: Finding, syntax: Callable[[Location], Syntax]) -> str:
    if not found.snippet:
        return found.resolution
    return found.resolution.replace(SNIPPET, found.snippet.written(syntax(found.spot)))


def some(names: Iterable[str]) -> str:
    """The distinct names in a sentence; of more than four the first three, and how many more there are."""
    distinct = list(dict.fromkeys(names))
    return f"{', '.join(distinct[:3])} and {len(distinct) - 3} others" if len(distinct) > 4 else listed(distinct)


def listed(names: Sequence[str]) -> str:
    """All names in a sentence: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def times(number: int) -> str:
    """How often something is there: "twice", "3 times"."""
    return "twice" if number == 2 else f"{number} times"


def written_at(source: str) -> str:
    """Where a level is written: "cluster" is "in group all", "group NAME" is "in ...", "host NAME" is "on ..."."""
    return "in group all" if source == "cluster" else f"{'on' if source.startswith('host ') else 'in'} {source}"


def _by_line(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line or 0)
