"""A declared topic, and Kafka's rules for its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


@dataclass(frozen=True)
class Topic:
    """One entry of `kafka_topics`."""

    name: str
    partitions: int = 1
    replication_factor: int = 3
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def internal(self) -> bool:
        """Whether it is an internal topic of Kafka."""
        return self.name.startswith("__")


def name_fault(name: str) -> str:
    """Why Kafka would refuse this topic name; empty when it would not."""
    if name in ("", ".", ".."):
        return "it cannot be empty, `.` or `..`"
    if len(name) > 249:
        return f"it has {len(name)} characters, 249 at most are allowed"
    if not _LEGAL.fullmatch(name):
        return "only letters, digits, `.`, `_` and `-` are allowed"
    return ""
