"""The jobs of this machine: a folder each, with the record of what was submitted and what the job tells of itself."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from kcluster import file_lock, paths
from kcluster.clients import processes
from kcluster.clients.processes import Process
from kcluster.errors import LockedError, RefusedError, UsageError

MARK = "KCLUSTER_JOB"
"""In the environment of each process of a job: the job's folder."""

_LINE = 1 << 16
"""Bytes in which the last line of progress is for certain."""

_LOOK = 0.05


class JobState(StrEnum):
    """Where a job stands."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    DIED = "died"


ENDED = (JobState.FINISHED, JobState.STOPPED, JobState.FAILED, JobState.DIED)


@dataclass(frozen=True)
class JobRecord:
    """What was submitted, and as which process it runs."""

    job: str
    name: str
    cluster: str
    cluster_id: str
    topics: Sequence[str]
    bootstrap: str
    master: str
    once: bool
    checkpoint: str
    """Empty for a job that keeps none."""
    sink: str
    submitted: float
    """Seconds since 1970."""
    command: str
    process: Process


@dataclass(frozen=True)
class Job:
    """One job of this machine, as its folder tells."""

    folder: Path
    record: JobRecord

    @property
    def name(self) -> str:
        """The name people use."""
        return self.record.name

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return processes.alive(self.record.process)

    @property
    def told(self) -> dict[str, Any]:
        """What the job last told of its state; nothing before its first word."""
        return _loaded(self.folder / "state.json") or {}

    @property
    def state(self) -> JobState:
        """What the job told; one whose process is gone without an end has died."""
        # In this order: a job tells how it ended, then it takes the wish to stop away, and then its process goes.
        alive, asked = self.alive, (self.folder / "stop").exists()
        state = JobState(self.told.get("state", JobState.STARTING))
        if state in ENDED:
            return state
        if not alive:
            return JobState.DIED
        return JobState.STOPPING if asked else state

    @property
    def log(self) -> Path:
        """What Spark and the job wrote."""
        return self.folder / "driver.log"

    def batches(self, since: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The batches told after a size of the file, and its size now; a line that is half written waits."""
        try:
            with (self.folder / "progress.jsonl").open("rb") as file:
                if file.seek(0, os.SEEK_END) < since:
                    since = 0  # the job has begun a new file, because the one before was long
                file.seek(since)
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return [], since
        return list(_told(whole.splitlines())), since + len(whole) + bool(whole)

    def last_batch(self) -> dict[str, Any] | None:
        """The newest batch, from the end of the file: it grows for as long as the job lives."""
        try:
            with (self.folder / "progress.jsonl").open("rb") as file:
                file.seek(max(0, self.progress_size() - _LINE))
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return None
        return next(_told(reversed(whole.splitlines())), None)

    def progress_size(self) -> int:
        """How much it has told of batches so far."""
        try:
            return (self.folder / "progress.jsonl").stat().st_size
        except FileNotFoundError:
            return 0

    def tell(self, state: JobState) -> None:
        """Write down how it ended, in place of a job that was ended before it could."""
        save(self.folder / "state.json", {"state": state, "at": time.time()})

    def ask_to_stop(self) -> None:
        """Ask it to end after the batch in hand."""
        (self.folder / "stop").touch()

    def end(self, within: float) -> bool:
        """End every process of it now, politely for some seconds; whether all are gone."""
        for how, seconds in ((signal.SIGTERM, within), (signal.SIGKILL, 10.0)):
            left = self.processes()
            for process in left:
                processes.end(process, how)
            if not processes.left_after(left, seconds):
                return True
        return False

    def processes(self) -> list[Process]:
        """Its process and whatever that began; Python goes on for a while when its JVM is killed."""
        return processes.session(self.record.process, f"{MARK}={self.folder}")


def root() -> Path:
    """Where the folders of jobs are: one for each cluster, in it one for each job."""
    return paths.home() / "jobs"


def folder(cluster: str, name: str) -> Path:
    """The folder of a job."""
    return root() / cluster / name


def at(place: Path) -> Job | None:
    """The job of a folder; None when none was submitted."""
    written = _loaded(place / "record.json")
    if written is None:
        return None
    return Job(place, JobRecord(**{**written, "process": Process(**written["process"])}))


def every() -> list[Job]:
    """Every job that was submitted on this machine, by cluster and name."""
    found = (at(file.parent) for file in sorted(root().glob("*/*/record.json")))
    return [job for job in found if job]


def pick(name: str) -> Job:
    """The job of a name, or of CLUSTER/NAME where several clusters have one of that name."""
    known = every()
    same = [job for job in known if name in (job.name, f"{job.record.cluster}/{job.name}")]
    if len(same) == 1:
        return same[0]
    if same:
        full = ", ".join(f"{job.record.cluster}/{job.name}" for job in same)
        raise UsageError(f"several clusters have a job {name}", resolution=f"name one of them: {full}")
    from kcluster.model.suggestions import nearest

    near = nearest(name, [job.name for job in known])
    raise RefusedError(
        f"no job {name} was submitted on this machine",
        resolution=f"did you mean {' or '.join(near)}?" if near else "kcluster job list",
    )


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Lock a job's folder, so that of two submits at once one is refused: LockedError with the other's process id."""

    def refused(pid: str) -> LockedError:
        return LockedError(
            f"the job {place.name} is being submitted already (pid {pid or 'unknown'})",
            resolution=f"wait for it: kcluster job status {place.name}",
        )

    with file_lock.locked(place / "lock", str(os.getpid()), refused):
        yield


def in_use(lock: Path, within: float = 0.0) -> bool:
    """Whether a job that runs holds a lock file, whoever started it; one that is just ending lets go in this time."""
    deadline = time.monotonic() + within
    while (held := _held(lock)) and time.monotonic() < deadline:
        time.sleep(_LOOK)
    return held


def _held(lock: Path) -> bool:
    try:
        with lock.open() as file:
            return file_lock.is_locked(file.fileno())
    except OSError:  # there is none, or it is not ours to look at
        return False


def note(place: Path, record: JobRecord) -> Job:
    """Keep the record of a job that was just started."""
    save(place / "record.json", asdict(record))
    return Job(place, record)


def save(file: Path, content: Mapping[str, Any], *, mode: int = 0o600) -> None:
    """Write JSON so that a reader sees the old file or the new one."""
    fresh = file.with_name(f"{file.name}.new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as out:
        json.dump(content, out, indent=1)
    fresh.replace(file)


def _told(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The batches of some lines, without one that a full disk cut off: the next one is written right behind it."""
    for line in lines:
        with suppress(ValueError):
            yield json.loads(line)


def _loaded(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except FileNotFoundError:
        return None
