"""The answer to one check on one host, and the verdict made of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kcluster.errors import ExitCode
from kcluster.model.finding import some
from kcluster.results import Block, Cell, Grid, Result, Tone, counted


class CheckSeverity(StrEnum):
    """How bad an answer is; only errors make the verdict a no, unless it is asked to be strict."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    OK = "ok"


_TONES = {
    CheckSeverity.ERROR: Tone.BAD,
    CheckSeverity.WARNING: Tone.WARN,
    CheckSeverity.INFO: Tone.DIM,
    CheckSeverity.OK: Tone.GOOD,
}


@dataclass(frozen=True)
class CheckResult:
    """What one check found on one host."""

    id: str
    severity: CheckSeverity
    host: str
    found: str
    required: str = ""
    fix: str = ""
    """What to do: a command where there is one."""
    fixable: bool = False
    """Whether `kcluster check --fix` repairs it."""


@dataclass(frozen=True)
class PreflightResult(Result):
    """Every answer, worst first."""

    cluster: str
    answers: tuple[CheckResult, ...]
    strict: bool = False
    every: bool = False
    """Whether the view lists what is good as well."""
    tried: tuple[CheckResult, ...] = ()
    """What `--fix` has tried to repair already."""

    @property
    def unreachable(self) -> tuple[str, ...]:
        """The hosts that did not answer over SSH."""
        return tuple(each.host for each in self.answers if each.id == "ssh" and each.severity is CheckSeverity.ERROR)

    @property
    def fixable(self) -> tuple[CheckResult, ...]:
        """What `--fix` can repair."""
        return tuple(each for each in self.answers if each.fixable and each.severity is not CheckSeverity.OK)

    @property
    def unrepaired(self) -> tuple[CheckResult, ...]:
        """What `--fix` tried to repair, and what still is not good."""
        bad = {(each.id, each.host) for each in self.answers if each.severity is not CheckSeverity.OK}
        return tuple(each for each in self.tried if (each.id, each.host) in bad)

    @property
    def ok(self) -> bool:
        """Whether no check failed; with `strict` no warning either."""
        return not self.count(CheckSeverity.ERROR) and not (self.strict and self.count(CheckSeverity.WARNING))

    @property
    def exit_code(self) -> ExitCode:
        """UNREACHABLE when a host cannot be reached, NO when a check failed."""
        if self.unreachable:
            return ExitCode.UNREACHABLE
        return ExitCode.DONE if self.ok else ExitCode.NO

    def count(self, severity: CheckSeverity) -> int:
        """How many answers are that bad."""
        return sum(each.severity is severity for each in self.answers)

    def data(self) -> Any:
        """Every field and the verdict."""
        return {
            "cluster": self.cluster,
            "ok": self.ok,
            "strict": self.strict,
            "counts": {str(severity): self.count(severity) for severity in CheckSeverity},
            "unreachable": list(self.unreachable),
            "not_repaired": [{"id": each.id, "host": each.host} for each in self.unrepaired],
            "checks": [asdict(each) for each in self.answers],
        }

    def view(self) -> Iterable[Block]:
        """What was found by severity, what to do, and the verdict last."""
        groups = _alike(each for each in self.answers if self.every or each.severity is not CheckSeverity.OK)
        yield Grid(("RESULT", "CHECK", "HOST", "FOUND"), [_row(first, hosts) for first, hosts in groups])
        yield from _ways_out(groups, hint=not self.tried)
        if self.unrepaired:
            yield Cell(f"not repaired: {described(self.unrepaired)}", Tone.BAD)
        yield Cell(f"{self.cluster}: {self._verdict()}", Tone.GOOD if self.ok else Tone.BAD)

    def _verdict(self) -> str:
        counts = [
            f"{number} info" if severity is CheckSeverity.INFO else counted(number, str(severity))
            for severity in (CheckSeverity.ERROR, CheckSeverity.WARNING, CheckSeverity.INFO)
            if (number := self.count(severity))
        ]
        passed = f"{self.count(CheckSeverity.OK)} of {counted(len(self.answers), 'check')} passed"
        refused = " - warnings count as errors" if self.strict and not self.count(CheckSeverity.ERROR) else ""
        return "; ".join([passed, ", ".join(counts)] if counts else [passed]) + ("" if self.ok else refused)


def described(answers: Iterable[CheckResult]) -> str:
    """Which checks on which hosts: "java-version on h1 and h2, max-map-count on h3"."""
    hosts: dict[str, list[str]] = {}
    for each in answers:
        hosts.setdefault(each.id, []).append(each.host)
    return ", ".join(f"{word} on {some(names)}" for word, names in hosts.items())


def ranked(answers: Iterable[CheckResult], order: Iterable[str]) -> tuple[CheckResult, ...]:
    """The worst first, then in the order of the catalogue."""
    severities, ids = list(CheckSeverity), list(order)
    return tuple(sorted(answers, key=lambda each: (severities.index(each.severity), ids.index(each.id))))


def _alike(answers: Iterable[CheckResult]) -> list[tuple[CheckResult, list[str]]]:
    """The same answer on several hosts is one row."""
    groups: dict[tuple[str, str, str, str], tuple[CheckResult, list[str]]] = {}
    for each in answers:
        _, hosts = groups.setdefault((each.id, each.severity, each.found, each.fix), (each, []))
        hosts.append(each.host)
    return list(groups.values())


def _row(answer: CheckResult, hosts: list[str]) -> list[str | Cell]:
    wanted = answer.severity is not CheckSeverity.OK and answer.required
    detail = f"{answer.found}; needed: {answer.required}" if wanted else answer.found
    return [Cell(answer.severity, _TONES[answer.severity]), answer.id, some(hosts), detail]


def _ways_out(groups: Iterable[tuple[CheckResult, list[str]]], *, hint: bool) -> Iterator[Block]:
    """What to do about each kind of trouble, once."""
    ways: dict[tuple[str, str], list[str]] = {}
    fixable = False
    for first, hosts in groups:
        if first.severity is not CheckSeverity.OK and first.fix:
            ways.setdefault((first.id, first.fix), []).extend(hosts)
            fixable |= first.fixable
    for (word, fix), hosts in ways.items():
        first_line, *more = fix.splitlines()
        yield f"  try: {first_line}  [{word}, {some(hosts)}]"
        yield from (f"       {line}" for line in more)
    if fixable and hint:
        yield "  kcluster check -i INV --fix repairs what is safe to repair; kcluster explain ID explains a check"
