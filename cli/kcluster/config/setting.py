"""A setting: one line of a rendered file with its origin; and the conversion of values to text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HIDDEN = "********"
"""What is shown instead of a secret."""


@dataclass(frozen=True)
class Setting:
    """One property with its origin."""

    key: str
    value: str
    source: str
    """"default", "kcluster" (owned), "cluster", "group NAME" or "host NAME"."""
    why: str = ""


def text(value: Any) -> str:
    """A value as a properties file spells it: `true`, not `True`; a list joined by commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(text(item) for item in value)
    return "" if value is None else str(value)
