"""`explain`: why a check matters, what happens without it, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

from kcluster.errors import UsageError
from kcluster.facts.preflight.catalogue import EXPLANATIONS, CheckExplanation
from kcluster.model.suggestions import meant
from kcluster.results import Block, Cell, Grid, Result, Tone

_WIDTH = 96


@dataclass(frozen=True)
class Explanation(Result):
    """The explanation of one check."""

    explanation: CheckExplanation

    def data(self) -> Any:
        """Its parts."""
        return asdict(self.explanation)

    def view(self) -> Iterable[Block]:
        """The question first, then paragraphs."""
        check = self.explanation
        yield Cell(f"{check.id}: {check.asks}", Tone.GOOD)
        for title, text in (("why", check.why), ("otherwise", check.otherwise), ("what to do", check.fix)):
            first, *more = wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
            yield f"{title:<12}{first}"
            yield from (f"{'':<12}{line}" for line in more)


@dataclass(frozen=True)
class ExplanationList(Result):
    """Every check in one line."""

    checks: tuple[CheckExplanation, ...]

    def data(self) -> Any:
        """Id and question of each."""
        return [{"id": check.id, "asks": check.asks} for check in self.checks]

    def view(self) -> Iterable[Block]:
        """One row for each."""
        yield Grid(("CHECK", "REQUIREMENT"), [(check.id, check.asks) for check in self.checks])


def explain(check: str) -> Explanation:
    """The explanation of one check; raises UsageError with the nearest id for an unknown one."""
    if check in EXPLANATIONS:
        return Explanation(EXPLANATIONS[check])
    near = meant(check, EXPLANATIONS)
    raise UsageError(
        f"there is no check {check}",
        resolution=f"kcluster explain {near}" if near else "list the checks: kcluster explain",
    )


def listed() -> ExplanationList:
    """Every check."""
    return ExplanationList(tuple(EXPLANATIONS.values()))
