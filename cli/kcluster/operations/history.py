"""`history`: the runs that changed a cluster, out of their journals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from kcluster import journal
from kcluster.errors import UsageError
from kcluster.journal import Run
from kcluster.model.suggestions import nearest
from kcluster.results import Block, Cell, Grid, Result, Tone, counted

_OUTCOMES = {"done": Tone.GOOD, "failed": Tone.BAD, "interrupted": Tone.WARN, "running": Tone.PLAIN}
_STATUSES = {"changed": Tone.WARN, "failed": Tone.BAD, "unreachable": Tone.BAD, "ok": Tone.GOOD, "skipped": Tone.DIM}
_KNOWN = ("event", "at", "phase", "host", "what", "status", "seconds")
_LONGEST = 80


@dataclass(frozen=True)
class History(Result):
    """The runs of one cluster, the newest last."""

    cluster: str
    runs: tuple[Run, ...]
    older: int = 0

    def data(self) -> Any:
        """Each run without its steps."""
        return {"cluster": self.cluster, "older": self.older, "runs": [_facts(run) for run in self.runs]}

    def view(self) -> Iterable[Block]:
        """A row for each run, the newest last."""
        if not self.runs:
            yield f"no run{f' of {self.cluster}' if self.cluster else ''} is recorded on this machine yet"
            return
        yield Grid(
            ("RUN", "WHEN", "WHO", "COMMAND", "OUTCOME", "TOOK"),
            [
                (
                    str(run.number),
                    when(run.owner.since),
                    f"{run.owner.user}@{run.owner.machine}",
                    _short(run.owner.command),
                    Cell(run.outcome, _OUTCOMES.get(run.outcome, Tone.PLAIN)),
                    took(run.seconds),
                )
                for run in self.runs
            ],
        )
        if self.older:
            yield f"{counted(self.older, 'older run')} not shown: add --last {self.older + len(self.runs)}"


@dataclass(frozen=True)
class RecordedRun(Result):
    """Several clusters with journals, when none was named."""

    clusters: tuple[History, ...]

    def data(self) -> Any:
        """A list: each cluster with its newest run."""
        return [one.data() for one in self.clusters]

    def view(self) -> Iterable[Block]:
        """A row for each cluster with its newest run."""
        rows = [(one, one.runs[-1]) for one in self.clusters]
        yield Grid(
            ("CLUSTER", "RUNS", "LAST", "COMMAND", "OUTCOME"),
            [
                (
                    one.cluster,
                    str(one.older + len(one.runs)),
                    when(run.owner.since),
                    _short(run.owner.command),
                    Cell(run.outcome, _OUTCOMES.get(run.outcome, Tone.PLAIN)),
                )
                for one, run in rows
            ],
        )
        yield f"show the runs of one: kcluster history -n {self.clusters[0].cluster}"


@dataclass(frozen=True)
class RunDetails(Result):
    """One run, step by step."""

    cluster: str
    run: Run

    def data(self) -> Any:
        """Every line of the journal."""
        return {"cluster": self.cluster, **_facts(self.run), "notes": [dict(note) for note in self.run.notes]}

    def view(self) -> Iterable[Block]:
        """User and command, the steps of each phase, and the outcome."""
        run = self.run
        by = f"{run.owner.user}@{run.owner.machine} (pid {run.owner.pid})"
        yield f"run {run.number} of {self.cluster}: {run.owner.command}"
        yield f"by {by} at {when(run.owner.since)}, kcluster {run.version or 'unknown'}"
        durations = _phase_seconds(run)
        for phase, notes in _phases(run.notes):
            titles = (_line(note["what"]) for note in notes if _begins_phase(note) and note.get("what") != phase)
            title = next(titles, "")
            time = f"({took(durations[phase])})" if phase in durations else ""
            yield ""
            yield Cell(" ".join(filter(None, [f"{phase}: {title}" if title else phase or "steps", time])), Tone.DIM)
            steps = [_row(note) for note in notes if not _begins_phase(note)]
            yield Grid(("HOST", "STEP", "STATUS", "TOOK", "DETAIL"), steps)
        yield ""
        yield Cell(_ending(run), _OUTCOMES.get(run.outcome, Tone.PLAIN))


def history(cluster: str | None, last: int) -> History | RecordedRun:
    """The newest `last` runs of a cluster; without a name those of the only one, or a list of several clusters.

    UsageError for a name that is not among those with runs.
    """
    known = journal.clusters()
    if not known:
        return History(cluster or "", ())
    if cluster is None and len(known) > 1:
        return RecordedRun(tuple(_history(name, 1) for name in known))
    return _history(known_cluster(cluster), last)


def history_of(path: Path, last: int) -> History:
    """The newest `last` runs of the cluster of an inventory; empty before its first run."""
    name = name_in(path)
    return _history(name, last) if name in journal.clusters() else History(name, ())


def show(cluster: str | None, number: int) -> RunDetails:
    """One run with all its steps; UsageError when there is no run of this number."""
    name = known_cluster(cluster)
    try:
        return RunDetails(name, journal.read(name, number))
    except FileNotFoundError as problem:
        newest = journal.runs(name, 1)[0].number
        raise UsageError(
            f"{name} has no run {number}; the newest is {newest}", resolution=f"kcluster history -n {name}"
        ) from problem


def known_cluster(name: str | None) -> str:
    """The named cluster, or the only one with a journal; UsageError when no run of it is recorded."""
    known = journal.clusters()
    if name in known:
        return str(name)
    if not known:
        of = f" of {name}" if name else ""
        raise UsageError(
            f"no run{of} is recorded on this machine yet", resolution="kcluster provision -i INV records its runs"
        )
    if name is None and len(known) == 1:
        return known[0]
    near = (nearest(name, known) if name else []) or known
    message = f"no run of {name} is recorded on this machine" if name else "runs of several clusters are recorded"
    raise UsageError(f"{message}; there is {', '.join(near)}", resolution=f"-n {near[0]}")


def name_in(path: Path) -> str:
    """The cluster's name in an inventory, also in one that is refused for other reasons."""
    from kcluster import inventory  # lazily: with -n no inventory is read

    loaded = inventory.load(path)
    cluster, _ = inventory.cluster_from(loaded.data, loaded.name)
    return cluster.name if cluster else loaded.name


def when(since: str) -> str:
    """A recorded time in the time zone of this machine."""
    try:
        return datetime.fromisoformat(since).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return since


def took(seconds: float | None) -> str:
    """A duration: "0.5 s", "3 min 2 s"; empty for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _history(name: str, last: int) -> History:
    runs = journal.runs(name)
    shown = runs[max(len(runs) - last, 0) :]
    return History(name, tuple(shown), len(runs) - len(shown))


def _facts(run: Run) -> dict[str, Any]:
    facts = asdict(run)
    del facts["notes"]
    return {"number": facts.pop("number"), **facts.pop("owner"), **facts}


def _phases(notes: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The notes of each phase in the order of its first one; within it those of each host together."""
    phases: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for note in notes:
        phases.setdefault(str(note.get("phase", "")), {}).setdefault(str(note.get("host", "")), []).append(note)
    for phase, hosts in phases.items():
        yield phase, [note for of_host in hosts.values() for note in of_host]


def _begins_phase(note: Mapping[str, Any]) -> bool:
    """Whether a note is the beginning of a phase."""
    return note.get("event") == "phase"


def _phase_seconds(run: Run) -> dict[str, float]:
    """The seconds of each phase: until the next one begins, the last until the end of what is known."""
    begun = filter(_begins_phase, run.notes)
    marks = [(datetime.fromisoformat(note["at"]), str(note.get("phase", ""))) for note in begun]
    if not marks:
        return {}
    if run.seconds is None:
        end = datetime.fromisoformat(run.notes[-1]["at"])
    else:
        end = datetime.fromisoformat(run.owner.since) + timedelta(seconds=run.seconds)
    seconds: dict[str, float] = {}
    for (began, phase), (ended, _) in pairwise([*marks, (end, "")]):
        seconds[phase] = seconds.get(phase, 0.0) + (ended - began).total_seconds()
    return seconds


def _row(note: Mapping[str, Any]) -> list[str | Cell]:
    status, seconds = str(note.get("status", "")), note.get("seconds")
    others = " ".join(f"{key}={_line(value)}" for key, value in note.items() if key not in _KNOWN)
    return [
        str(note.get("host", "")),
        _line(note.get("what", note.get("event", ""))),
        Cell(status, _STATUSES.get(status, Tone.PLAIN)),
        took(seconds) if isinstance(seconds, (int, float)) else "",
        _short(others),
    ]


def _line(value: Any) -> str:
    """A value on one line; of a longer text its first one, the rest is in the JSON form."""
    lines = str(value).strip().splitlines() or [""]
    return lines[0] + (" ..." if len(lines) > 1 else "")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _ending(run: Run) -> str:
    parts = [run.outcome if not run.message else f"{run.outcome}: {run.message}"]
    if run.exit_code:
        parts.append(f"exit code {run.exit_code}")
    if run.seconds is not None:
        parts.append(took(run.seconds))
    if run.lost:
        parts.append(f"{counted(run.lost, 'line')} missing, the disk was full")
    if run.exit_code is None and run.outcome == "interrupted":
        parts.append("the process was killed, or its machine went down")
    return ", ".join(parts)
