"""The result of a smoke test: the rows people read, the faults, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kcluster.errors import ExitCode
from kcluster.results import Block, Cell, Grid, Result, Tone, counted
from kcluster.smoke.replica_reads import ReplicaVerdict
from kcluster.smoke.verdict import Flaw, Verdict

NAMED_FAULTS = 5
"""How many faults are printed; the rest is counted."""


@dataclass(frozen=True)
class SmokeRow:
    """The counts and latencies of one listener of one broker."""

    broker: int
    listener: str
    address: str
    entered: int
    """Acknowledged records that were written with this address as the only bootstrap."""
    acknowledged: int
    """Acknowledged records that this broker led, written through this listener."""
    seen: int
    p50_ms: float | None
    p99_ms: float | None

    @property
    def passed(self) -> bool:
        """Whether the listener took records and every acknowledged one was read."""
        return self.entered > 0 and self.seen >= self.acknowledged


@dataclass(frozen=True)
class SmokeResult(Result):
    """The verdict of a smoke test, with the counts it rests on."""

    topic: str
    kept: bool
    rows: Sequence[SmokeRow]
    verdict: Verdict
    leaders: Mapping[int, int]
    """The leader of each partition."""
    resumed: int
    """Records the group's second consumer read, beginning at the commits of the first."""
    problems: Sequence[str]
    """Why the test could not be completed."""
    left_out: Sequence[str]
    """What was not tested, and why."""
    seconds: float
    replicas: Sequence[ReplicaVerdict] = ()
    """Every replica that was read; empty where the brokers ask for a login."""

    @property
    def passed(self) -> bool:
        """Whether everything was tested and nothing was lost."""
        return self.verdict.passed and not self.problems

    @property
    def exit_code(self) -> ExitCode:
        """NO when the test failed or could not be completed."""
        return ExitCode.DONE if self.passed else ExitCode.NO

    def data(self) -> Any:
        """The fields, the verdict as `holds`, and the broker of each fault."""
        faults = [{"broker": self.leaders.get(fault.partition), **asdict(fault)} for fault in self.verdict.faults]
        return {"holds": self.passed, **asdict(self), "verdict": {**asdict(self.verdict), "faults": faults}}

    def view(self) -> Iterable[Block]:
        """A row for each broker and listener, the first faults, and the verdict."""
        columns = ("BROKER", "LISTENER", "ADDRESS", "ENTERED", "ACKED", "READ", "P50", "P99")
        yield Grid(columns, [_cells(row) for row in self.rows])
        yield Grid(("FAULT", "BROKER", "PARTITION", "OFFSET", "SEQUENCE", "DETAIL"), self._first_faults())
        if len(self.verdict.faults) > NAMED_FAULTS:
            yield f"... and {len(self.verdict.faults) - NAMED_FAULTS} more"
        yield from (Cell(problem, Tone.BAD) for problem in self.problems)
        if self.kept:
            yield f"kept: topic {self.topic}"
        yield Cell(self.sentence, Tone.GOOD if self.passed else Tone.BAD)

    def _first_faults(self) -> list[list[str | Cell]]:
        return [
            [
                Cell(fault.flaw, Tone.BAD),
                str(self.leaders.get(fault.partition, "")),
                str(fault.partition),
                str(fault.offset),
                str(fault.sequence),
                fault.detail,
            ]
            for fault in self.verdict.faults[:NAMED_FAULTS]
        ]

    @property
    def sentence(self) -> str:
        """The verdict in one line, with what was not tested."""
        verdict = self.verdict
        counts = [
            f"{verdict.acknowledged} acknowledged",
            f"{verdict.seen} read",
            f"{verdict.count(Flaw.LOST)} lost",
            counted(verdict.duplicates, "duplicate"),
        ]
        if others := len(verdict.faults) - verdict.count(Flaw.LOST) - verdict.duplicates:
            counts.append(counted(others, "other fault"))
        if verdict.indeterminate:
            counts.append(f"{verdict.indeterminate} without acknowledgement")
        if self.resumed:
            counts.append(f"{self.resumed} read after the group failover")
        if self.replicas:
            complete = sum(not replica.fault for replica in self.replicas)
            counts.append(f"{complete} of {counted(len(self.replicas), 'replica')} complete")
        verdict_and_counts = f"smoke test {'passed' if self.passed else 'failed'}: {', '.join(counts)}"
        untested = f"; not tested: {'; '.join(self.left_out)}" if self.left_out else ""
        return f"{verdict_and_counts} ({self.seconds:.1f} s){untested}"


def _cells(row: SmokeRow) -> list[str | Cell]:
    tone = Tone.PLAIN if row.passed else Tone.BAD
    counts = [Cell(str(number), tone) for number in (row.entered, row.acknowledged, row.seen)]
    return [
        str(row.broker),
        row.listener,
        row.address,
        *counts,
        _milliseconds(row.p50_ms),
        _milliseconds(row.p99_ms),
    ]


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"
