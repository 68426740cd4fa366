"""The jobs submitted on this machine: a directory for each, with its record and the state that it writes."""

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
from kcluster.errors import LockedError, UsageError
from kcluster.results import counted

ENVIRONMENT_MARK = "KCLUSTER_JOB"
"""The environment variable of each process of a job: the job directory."""

_LAST_LINE_WITHIN = 1 << 16
"""Bytes at the end of progress.jsonl that surely have its last line."""

_POLL = 0.05


class JobState(StrEnum):
    """The state of a job."""

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
    """What was submitted, and its process."""

    job: str
    name: str
    cluster: str
    cluster_id: str
    topics: Sequence[str]
    bootstrap: str
    master: str
    once: bool
    checkpoint: str
    """Empty for a job without one."""
    sink: str
    submitted: float
    """Seconds since 1970."""
    command: str
    process: Process


@dataclass(frozen=True)
class Job:
    """One job of this machine."""

    folder: Path
    record: JobRecord

    @property
    def name(self) -> str:
        """The job's name."""
        return self.record.name

    @property
    def alive(self) -> bool:
        """Whether its process is running."""
        return processes.alive(self.record.process)

    @property
    def reported(self) -> dict[str, Any]:
        """The content of state.json; empty before the job has written it."""
        return _load_json(self.folder / "state.json") or {}

    @property
    def state(self) -> JobState:
        """The state in state.json; DIED when the process is gone without a final state."""
        # In this order: a job writes its final state, then removes the request to stop, then its process exits.
        alive, stop_requested = self.alive, (self.folder / "stop").exists()
        state = JobState(self.reported.get("state", JobState.STARTING))
        if state in ENDED:
            return state
        if not alive:
            return JobState.DIED
        return JobState.STOPPING if stop_requested else state

    @property
    def log(self) -> Path:
        """The output of Spark and the job."""
        return self.folder / "driver.log"

    def batches(self, since: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The batches after an offset of progress.jsonl, and the next offset; incomplete lines are left for later."""
        try:
            with (self.folder / "progress.jsonl").open("rb") as file:
                if file.seek(0, os.SEEK_END) < since:
                    since = 0  # the job has rotated the file
                file.seek(since)
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return [], since
        return list(_parsed(whole.splitlines())), since + len(whole) + bool(whole)

    def last_batch(self) -> dict[str, Any] | None:
        """The newest batch, read from the end of the file; None before the first."""
        try:
            with (self.folder / "progress.jsonl").open("rb") as file:
                file.seek(max(0, self.progress_size() - _LAST_LINE_WITHIN))
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return None
        return next(_parsed(reversed(whole.splitlines())), None)

    def progress_size(self) -> int:
        """The size of progress.jsonl."""
        try:
            return (self.folder / "progress.jsonl").stat().st_size
        except FileNotFoundError:
            return 0

    def write_state(self, state: JobState) -> None:
        """Write the final state for a job that was killed before it could."""
        save_json(self.folder / "state.json", {"state": state, "at": time.time()})

    def request_stop(self) -> None:
        """Ask the job to stop after the running batch."""
        (self.folder / "stop").touch()

    def end(self, within: float) -> bool:
        """End its processes: SIGTERM, after `within` seconds SIGKILL; False when some are left."""
        for how, seconds in ((signal.SIGTERM, within), (signal.SIGKILL, 10.0)):
            left = self.processes()
            for process in left:
                processes.end(process, how)
            if not processes.left_after(left, seconds):
                return True
        return False

    def processes(self) -> list[Process]:
        """Its process and all that this started; Python lives on for a moment when its JVM is killed."""
        return processes.session(self.record.process, f"{ENVIRONMENT_MARK}={self.folder}")


def root() -> Path:
    """The root of job directories: CLUSTER/NAME."""
    return paths.home() / "jobs"


def job_dir(cluster: str, name: str) -> Path:
    """The job directory."""
    return root() / cluster / name


def load_job(folder: Path) -> Job | None:
    """The job of a job directory; None without a record."""
    written = _load_json(folder / "record.json")
    if written is None:
        return None
    return Job(folder, JobRecord(**{**written, "process": Process(**written["process"])}))


def all_jobs() -> list[Job]:
    """All jobs submitted on this machine, by cluster and name."""
    jobs = (load_job(file.parent) for file in sorted(root().glob("*/*/record.json")))
    return [job for job in jobs if job]


def pick(name: str) -> Job:
    """The job with a name, or CLUSTER/NAME; UsageError when the name is ambiguous, RefusedError when it is unknown."""
    known = all_jobs()
    same = [job for job in known if name in (job.name, f"{job.record.cluster}/{job.name}")]
    if len(same) == 1:
        return same[0]
    if same:
        full = ", ".join(f"{job.record.cluster}/{job.name}" for job in same)
        raise UsageError(
            f"job {name} exists on {counted(len(same), 'cluster')}", resolution=f"use CLUSTER/NAME: {full}"
        )
    from kcluster.model.suggestions import nearest

    near = nearest(name, [job.name for job in known])
    raise UsageError(
        f"job {name} was not submitted on this machine",
        resolution=f"did you mean {' or '.join(near)}?" if near else "see kcluster job list",
    )


@contextmanager
def submit_lock(folder: Path) -> Iterator[None]:
    """Lock a job directory during a submit; LockedError with the id of the process that has it."""

    def refused(pid: str) -> LockedError:
        return LockedError(
            f"job {folder.name} is being submitted by another process (pid {pid or 'unknown'})",
            resolution=f"wait for it: kcluster job status {folder.name}",
        )

    with file_lock.locked(folder / "lock", str(os.getpid()), refused):
        yield


def is_locked(lock: Path, within: float = 0.0) -> bool:
    """Whether a process has this file locked; waits up to `within` seconds for it to be released."""
    deadline = time.monotonic() + within
    while (locked := _is_locked_now(lock)) and time.monotonic() < deadline:
        time.sleep(_POLL)
    return locked


def _is_locked_now(lock: Path) -> bool:
    try:
        with lock.open() as file:
            return file_lock.is_locked(file.fileno())
    except OSError:  # no such file, or no permission
        return False


def save_record(folder: Path, record: JobRecord) -> Job:
    """Write the record of a job that was just started."""
    save_json(folder / "record.json", asdict(record))
    return Job(folder, record)


def save_json(file: Path, content: Mapping[str, Any], *, mode: int = 0o600) -> None:
    """Write JSON atomically with the given mode."""
    fresh = file.with_name(f"{file.name}.new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as out:
        json.dump(content, out, indent=1)
        out.flush()
        os.fsync(out.fileno())  # a power cut must not leave it empty
    fresh.replace(file)


def _parsed(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The batches in lines of progress.jsonl; lines that a full disk truncated are skipped."""
    for line in lines:
        with suppress(ValueError):
            yield json.loads(line)


def _load_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except FileNotFoundError:
        return None
