"""What `logs` shows: lines of nodes, interleaved by time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kcluster.errors import ExitCode, KclusterError
from kcluster.model.node import Node
from kcluster.results import Block, Cell, Result, Tone

_TIME = re.compile(r"\[?2\d{3}-\d\d-\d\d[ T][\d:,]{8,12}")
"""As log4j and the journal begin a line."""


@dataclass(frozen=True)
class LogLine:
    """One line of a node's log."""

    node: str
    text: str


@dataclass(frozen=True)
class LogLines(Result):
    """Lines of logs; with several nodes each says whose it is."""

    lines: Sequence[LogLine]
    width: int
    """Of the longest name; nothing when only one node is asked for, for then no line needs a name."""
    coming: Callable[[], Iterator[LogLine]] | None = field(default=None, repr=False)
    """Lines that are written from now on, without an end; None when they are not asked for."""
    problems: Sequence[KclusterError] = field(default=(), repr=False)
    """Hosts that cannot be asked."""

    @classmethod
    def of(
        cls,
        nodes: Sequence[Node],
        found: Sequence[LogLine],
        lines: int,
        coming: Callable[[], Iterator[LogLine]] | None,
        problems: Sequence[KclusterError] = (),
    ) -> LogLines:
        """The last lines of one node, or of several interleaved by time."""
        if len(nodes) == 1:
            return cls(found, 0, coming, problems)
        width = max(len(node.name) for node in nodes)
        return cls(by_time(found)[-lines:] if lines else [], width, coming, problems)

    @property
    def exit_code(self) -> ExitCode:
        """UNREACHABLE when a host cannot be asked."""
        return ExitCode.UNREACHABLE if self.problems else ExitCode.DONE

    def data(self) -> Any:
        """The lines that are there."""
        return [vars(line) for line in self.lines]

    def view(self) -> Iterable[Block]:
        """The lines that are there, the hosts that cannot be asked, then the lines that come."""
        yield from map(self._text, self.lines)
        for problem in self.problems:
            yield Cell(problem.message, Tone.BAD)
            yield f"  try: {problem.resolution}"
        yield from map(self._text, self.coming() if self.coming else ())

    def _text(self, line: LogLine) -> str:
        return f"{line.node:{self.width}} | {line.text}" if self.width else line.text


def by_time(lines: Sequence[LogLine]) -> list[LogLine]:
    """Lines in the order of their time; a line without one belongs to the line before it."""
    dated, time_of = [], {}
    for line in lines:
        if begun := _TIME.match(line.text):
            time_of[line.node] = begun[0].lstrip("[")
        dated.append((time_of.get(line.node, ""), line))
    return [line for _, line in sorted(dated, key=lambda pair: pair[0])]
