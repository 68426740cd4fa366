"""What commands return: data for machines, a view for people, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import StrEnum
from typing import Any, Protocol

from kcluster.errors import ExitCode


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun, in the singular for 1: "1 partition", "2,000 partitions"; `plural` where no -s does."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def enumerated(words: Iterable[str], conjunction: str = "and") -> str:
    """The words as one phrase: "a", "a and b", "a, b and c"; an empty string of none."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} {conjunction} {last}" if first else last


_SHOWN = 5
"""How many of many things a line names."""


def few(words: Iterable[str], separator: str = ", ") -> str:
    """The first of many words, and how many more there are: "a, b, c, d, e and 213 more"."""
    listed = list(words)
    more = len(listed) - _SHOWN
    return separator.join(listed[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


class Tone(StrEnum):
    """The meaning of a cell, which `show` colours on a terminal."""

    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    DIM = "dim"


@dataclass(frozen=True)
class Cell:
    """A text of a view with its tone."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Grid:
    """A table of a view: a header and rows; an empty grid prints nothing."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    wide: Collection[str] = ()
    """The columns that only `-o wide` has."""


Block = str | Cell | Grid


class Result:
    """What a command returns. Results are frozen dataclasses derived from this class."""

    def data(self) -> Any:
        """The JSON and YAML form; override it where the fields are not the interface."""
        assert is_dataclass(self), f"{type(self).__name__} must be a dataclass"
        return asdict(self)

    def view(self) -> Iterable[Block]:
        """The form for people: lines and grids, in order."""
        raise NotImplementedError

    @property
    def exit_code(self) -> ExitCode:
        """DONE, unless the command failed."""
        return ExitCode.DONE


@dataclass(frozen=True)
class Message(Result):
    """One sentence about what was done, and lines about what to do next."""

    text: str
    next: Sequence[str] = field(default=())

    def view(self) -> Iterable[Block]:
        """The sentence, then the next steps."""
        yield self.text
        yield from self.next


@dataclass(frozen=True)
class Check:
    """One check and its detail: "expected 3, observed 2"."""

    name: str
    ok: bool
    detail: str
    subject: str = ""
    warning: bool = False
    """Whether it passed but needs attention soon."""
    items: tuple[str, ...] = ()
    """All that `detail` names the first of."""


@dataclass(frozen=True)
class Checks(Result):
    """A verdict made of checks; ok only when every check passed."""

    title: str
    checks: Sequence[Check]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    @property
    def exit_code(self) -> ExitCode:
        """NO when a check failed."""
        return ExitCode.DONE if self.ok else ExitCode.NO

    def data(self) -> Any:
        """The fields and the verdict."""
        return {"title": self.title, "ok": self.ok, "checks": [asdict(check) for check in self.checks]}

    def view(self) -> Iterable[Block]:
        """A row for each check, and the verdict last."""
        rows: list[list[str | Cell]] = [
            [
                _answer(check),
                check.name,
                check.subject,
                check.detail,
            ]
            for check in self.checks
        ]
        yield Grid(("RESULT", "CHECK", "SUBJECT", "DETAIL"), rows)
        failed = sum(not check.ok for check in self.checks)
        verdict = f"{failed} of {len(self.checks)} checks failed" if failed else "all checks passed"
        yield Cell(f"{self.title}: {verdict}", Tone.BAD if failed else Tone.GOOD)


def _answer(check: Check) -> Cell:
    if not check.ok:
        return Cell("FAILED", Tone.BAD)
    return Cell("warning", Tone.WARN) if check.warning else Cell("ok", Tone.GOOD)


Progress = Callable[[str], None]
"""How an operation reports progress; commands pass `show.progress`."""

Meter = Callable[[int, int | None, str], None]
"""How a transfer reports progress: done, the total when it is known, and the unit ("B", "jars")."""


class StepState(StrEnum):
    """The state of a step of a host."""

    STARTED = "started"
    OK = "ok"
    CHANGED = "changed"
    FAILED = "failed"


class Watch(Protocol):
    """How a long run reports progress: phases, the step of each host, and lines that stay."""

    def phase(self, title: str) -> None:
        """The phase that begins; it ends the one before."""

    def step(self, host: str, text: str, state: StepState) -> None:
        """What a host does, or has done."""

    def say(self, text: str) -> None:
        """A line that stays."""

    def pause(self) -> None:
        """End the phase before a question is asked."""
