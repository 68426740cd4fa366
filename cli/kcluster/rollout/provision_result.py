"""What a provision did: what changed, how long each phase took, and how to reach the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from kcluster.errors import ExitCode
from kcluster.model.finding import some
from kcluster.results import Block, Cell, Grid, Result, Tone, counted


@dataclass(frozen=True)
class HostChange:
    """One thing that was changed on a host."""

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
    """Dynamic config that was set on running brokers."""
    restarted: tuple[str, ...]
    topics: int
    proof: str
    """The verdict of the smoke test in one sentence; empty without one."""
    problems: tuple[str, ...]
    """What is wrong with the cluster; empty when it is healthy and the smoke test passed."""
    seconds: Mapping[str, float]
    """By phase, in order."""
    left: str = ""
    """What of a staged change is left, and how to go on."""

    def then(self, later: ProvisionReport) -> ProvisionReport:
        """This report and that of the next stage as one."""
        return replace(
            later,
            changed=(*self.changed, *later.changed),
            settings=(*self.settings, *later.settings),
            restarted=(*self.restarted, *later.restarted),
        )

    @property
    def holds(self) -> bool:
        """Whether the cluster is healthy and the smoke test, if there was one, passed."""
        return not self.problems

    @property
    def exit_code(self) -> ExitCode:
        """NO when there are problems."""
        return ExitCode.DONE if self.holds else ExitCode.NO

    def data(self) -> Any:
        """The fields and the verdict."""
        return {**asdict(self), "holds": self.holds}

    def view(self) -> Iterable[Block]:
        """What changed, the phases, the smoke test, and the bootstrap line last, where it is copied from."""
        yield Grid(("HOST", "CHANGED"), [(some(hosts), what) for what, hosts in self._hosts_by_change().items()])
        yield from (f"dynamic config set: {setting}" for setting in self.settings)
        yield from (f"restarted {node}" for node in self.restarted)
        phases = ", ".join(f"{phase} {spent:.1f}" for phase, spent in self.seconds.items())
        yield Cell(f"{sum(self.seconds.values()):.1f} s: {phases}", Tone.DIM)
        if self.proof:
            yield Cell(self.proof, Tone.GOOD if self.holds else Tone.BAD)
        yield from (Cell(problem, Tone.BAD) for problem in self.problems)
        yield Cell(f"{self.name}: {self.summary}, {self._changes()}", Tone.GOOD if self.holds else Tone.BAD)
        if self.left:
            yield Cell(self.left, Tone.WARN)
        yield f"bootstrap: {self.bootstrap}"

    def _hosts_by_change(self) -> Mapping[str, list[str]]:
        """The hosts on which the same was changed."""
        hosts: dict[str, list[str]] = {}
        for change in self.changed:
            hosts.setdefault(change.what, []).append(change.host)
        return hosts

    def _changes(self) -> str:
        counts = (
            (len(self.changed), "change"),
            (len(self.settings), "setting"),
            (len(self.restarted), "restart"),
            (self.topics, "topic change"),
        )
        return ", ".join(counted(count, what) for count, what in counts if count) or "nothing had to change"
