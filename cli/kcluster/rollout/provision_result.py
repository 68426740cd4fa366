"""What a provision did: what changed, how long each phase took, and how to reach the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kcluster.errors import ExitCode
from kcluster.model.finding import some
from kcluster.results import Block, Cell, Grid, Result, Tone


@dataclass(frozen=True)
class HostChange:
    """One thing that is not as it was."""

    host: str
    what: str


@dataclass(frozen=True)
class ProvisionReport(Result):
    """The summary of a run."""

    name: str
    summary: str
    bootstrap: str
    changed: tuple[HostChange, ...]
    settings: tuple[str, ...]
    """What brokers took while they ran."""
    restarted: tuple[str, ...]
    topics: int
    proof: str
    """The verdict of the smoke test in one sentence; nothing when it was not asked for."""
    problems: tuple[str, ...]
    """Why the cluster is not as it should be; nothing when all is well."""
    seconds: Mapping[str, float]
    """By phase, in order."""

    @property
    def holds(self) -> bool:
        """Whether the cluster is healthy and keeps what it acknowledges, as far as it was asked."""
        return not self.problems

    @property
    def exit_code(self) -> ExitCode:
        """NO when the cluster is not as it should be."""
        return ExitCode.DONE if self.holds else ExitCode.NO

    def data(self) -> Any:
        """The fields and the verdict."""
        return {**asdict(self), "holds": self.holds}

    def view(self) -> Iterable[Block]:
        """What changed, the phases, the proof, and the bootstrap line last, where it is copied from."""
        yield Grid(("HOST", "CHANGED"), [(some(hosts), what) for what, hosts in self._alike().items()])
        yield from (f"set while it ran: {setting}" for setting in self.settings)
        yield from (f"restarted {node}" for node in self.restarted)
        phases = ", ".join(f"{phase} {spent:.1f}" for phase, spent in self.seconds.items())
        yield Cell(f"{sum(self.seconds.values()):.1f} s: {phases}", Tone.DIM)
        if self.proof:
            yield Cell(self.proof, Tone.GOOD if self.holds else Tone.BAD)
        yield from (Cell(problem, Tone.BAD) for problem in self.problems)
        yield Cell(f"{self.name}: {self.summary}, {self._changes()}", Tone.GOOD if self.holds else Tone.BAD)
        yield f"bootstrap: {self.bootstrap}"

    def _alike(self) -> Mapping[str, list[str]]:
        """The hosts on which the same was changed."""
        found: dict[str, list[str]] = {}
        for change in self.changed:
            found.setdefault(change.what, []).append(change.host)
        return found

    def _changes(self) -> str:
        counts = (
            (len(self.changed), "change"),
            (len(self.settings), "setting"),
            (len(self.restarted), "restart"),
            (self.topics, "topic change"),
        )
        said = ", ".join(f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count)
        return said or "nothing had to change"
