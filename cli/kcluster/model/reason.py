"""Why a gate is closed, or a node is not serving yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kcluster.results import few

_SHOWN_REASONS = 10


@dataclass(frozen=True)
class Reason:
    """Why a gate is closed."""

    text: str
    partitions: tuple[str, ...] = ()
    """The partitions it is about: "orders-3"."""
    remedy: str = ""
    """What to do where waiting does not help."""
    listing: str = ""
    """The command that shows all of the partitions."""
    progress: str = ""
    """Changes as long as what is waited for gets on: the patience begins anew with each change."""

    def __str__(self) -> str:
        """One line, with the first partitions."""
        return f"{self.text}: {few(self.partitions)}" if self.partitions else self.text

    @property
    def detail(self) -> str:
        """The same line; where partitions are missing in it, it says how many there are and where all of them are."""
        if few(self.partitions) == ", ".join(self.partitions):
            return str(self)
        return f"{self} ({len(self.partitions)}; all of them: {f'{self.listing}, or ' if self.listing else ''}-o json)"


def joined(reasons: Iterable[Reason]) -> list[Reason]:
    """One reason for those of several nodes that differ in their partitions only."""
    by_text: dict[str, Reason] = {}
    for reason in reasons:
        known = by_text.get(reason.text, reason)
        by_text[reason.text] = replace(known, partitions=tuple(sorted({*known.partitions, *reason.partitions})))
    return list(by_text.values())


def details(reasons: Iterable[Reason]) -> list[str]:
    """The first reasons, a line each, and how many more there are."""
    lines = [reason.detail for reason in joined(reasons)]
    more = len(lines) - _SHOWN_REASONS
    return [*lines[:_SHOWN_REASONS], *([f"and {more} more reasons (all of them: -o json)"] if more > 0 else [])]


def lists(reasons: Iterable[Reason]) -> dict[str, tuple[str, ...]]:
    """Every reason with all of its partitions, for machines."""
    return {reason.text: reason.partitions for reason in joined(reasons)}
