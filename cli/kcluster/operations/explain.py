"""The story of a check: why it matters, what happens otherwise, and what to do."""

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
    """One story."""

    story: CheckExplanation

    def data(self) -> Any:
        """Its parts."""
        return asdict(self.story)

    def view(self) -> Iterable[Block]:
        """The question first, then paragraphs."""
        story = self.story
        yield Cell(f"{story.id}: {story.asks}", Tone.GOOD)
        for title, text in (("why", story.why), ("otherwise", story.otherwise), ("what to do", story.fix)):
            first, *more = wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
            yield f"{title:<12}{first}"
            yield from (f"{'':<12}{line}" for line in more)


@dataclass(frozen=True)
class ExplanationList(Result):
    """Every check in one line."""

    stories: tuple[CheckExplanation, ...]

    def data(self) -> Any:
        """Id and question of each."""
        return [{"id": story.id, "asks": story.asks} for story in self.stories]

    def view(self) -> Iterable[Block]:
        """One row for each."""
        yield Grid(("CHECK", "WHAT IS TRUE OF A GOOD HOST"), [(story.id, story.asks) for story in self.stories])


def explain(word: str) -> Explanation:
    """The story of one check; of a misspelt id the nearest is named."""
    if word in EXPLANATIONS:
        return Explanation(EXPLANATIONS[word])
    near = meant(word, EXPLANATIONS)
    raise UsageError(
        f"there is no check {word}", resolution=f"kcluster explain {near}" if near else "kcluster explain lists them"
    )


def listed() -> ExplanationList:
    """All there are."""
    return ExplanationList(tuple(EXPLANATIONS.values()))
