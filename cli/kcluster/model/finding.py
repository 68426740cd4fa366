"""A finding: something wrong or doubtful in an inventory, where it is, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error refuses the inventory; a warning does so only when asked to be strict."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Spot:
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
    spot: Spot = Spot()
    severity: Severity = Severity.ERROR


def warning(message: str, resolution: str = "", spot: Spot | None = None) -> Finding:
    """A finding that refuses the inventory only when asked to be strict."""
    return Finding(message, resolution, spot or Spot(), Severity.WARNING)


def lines(finding: Finding, locate: Callable[[Spot], str]) -> list[str]:
    """A finding for people: what, where, and what to do."""
    place = locate(finding.spot)
    shown = [f"{finding.severity}: {finding.message}"]
    shown += [f"  at {place}"] if place else []
    return shown + ([f"  try: {finding.resolution}"] if finding.resolution else [])
