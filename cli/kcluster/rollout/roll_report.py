"""What a roll has restarted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kcluster.results import Block, Cell, Grid, Result, Tone, counted


@dataclass(frozen=True)
class Step:
    """One node that was restarted, alone or with others."""

    node: str
    host: str
    reason: str
    waited_seconds: float
    """Until its gate was open."""
    seconds: float
    """From the order to restart until it, and those that were restarted with it, had caught up."""


@dataclass(frozen=True)
class RollReport(Result):
    """What was restarted, in this order."""

    name: str
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    together: int = 1
    """The most nodes that were restarted at once."""

    def view(self) -> Iterable[Block]:
        """A row for each node, then one line with the total."""
        rows = [(step.node, step.host, f"{step.seconds:.1f} s", step.reason) for step in self.steps]
        yield Grid(("RESTARTED", "HOST", "BACK AFTER", "REASON"), rows)
        if not self.steps:
            yield f"{self.name}: no node had to be restarted"
            return
        longest = max(self.steps, key=lambda step: step.seconds)
        how = "one at a time" if self.together == 1 else f"up to {self.together} at once"
        yield Cell(
            f"{self.name}: restarted {counted(len(self.steps), 'node')} {how} in {self.seconds:.1f} s, "
            f"slowest {longest.node} with {longest.seconds:.1f} s",
            Tone.GOOD,
        )
