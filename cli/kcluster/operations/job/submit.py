"""`job submit`: everything is checked first, then the job starts as a process that outlives the command."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kcluster import paths
from kcluster.clients import processes
from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import of_metadata
from kcluster.clients.spark import connector, driver_class_archive, runtime, submit_command
from kcluster.errors import LockedError, UsageError
from kcluster.jobs import client_security, cluster_prechecks, job_file, locations, registry
from kcluster.jobs.following import FollowedJob, follow, gone, until_running
from kcluster.jobs.registry import Job, JobRecord
from kcluster.jobs.spark_target import LOCAL, Where, where
from kcluster.jobs.table_prechecks import fits
from kcluster.model.client import Client
from kcluster.model.spark_cluster import SparkCluster
from kcluster.results import Block, Cell, Progress, Result, Tone

WRITTEN = {"dead_letters": ".dead-letters", "alerts": ".alerts"}
"""Settings that name a topic the job writes to, and how its name ends when the file leaves it to us."""

_LETS_GO_WITHIN = 2.0
"""Seconds in which a process that is just ending lets go of its lock: by then nothing else tells whose it was."""


@dataclass(frozen=True)
class SubmitRequest:
    """What the command line asks for."""

    job: str
    file: Path | None = None
    name: str = ""
    master: str = ""
    """Empty: the engine, and without one this machine."""
    engine: SparkCluster | None = None
    """The Spark of the inventory."""
    client: Client = field(default_factory=Client)
    shared_path: bool = False
    once: bool = False
    follow: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Prepared:
    """A job that passed every check and whose folder is written: what is left is to start it."""

    folder: Path
    settings: Mapping[str, Any]
    line: submit_command.SubmitCommand
    runtime: runtime.Runtime | None
    """None for a job that needs no Spark."""
    cluster_id: str
    bootstrap: str
    master: str
    once: bool


@dataclass(frozen=True)
class Dry(Result):
    """The line that would run."""

    prepared: Prepared

    def data(self) -> Any:
        """The line, and the settings it runs with."""
        return {"command": str(self.prepared.line), "settings": client_security.shown(self.prepared.settings)}

    def view(self) -> Iterable[Block]:
        """The line alone, to be pasted."""
        yield str(self.prepared.line)


@dataclass(frozen=True)
class Submitted(Result):
    """A job that runs now, without anybody watching."""

    job: Job
    seconds: float

    def data(self) -> Any:
        """Its record and state."""
        from kcluster.jobs.job_view import JobView

        return JobView.of(self.job).data()

    def view(self) -> Iterable[Block]:
        """That it runs, and how to look at it."""
        job = self.job
        yield Cell(f"{job.name} runs (pid {job.record.process.pid}, after {self.seconds:.1f} s)", Tone.GOOD)
        yield f"look: kcluster job status {job.name}    stop: kcluster job stop {job.name}"


def submit(kafka: Kafka, cluster: str, wish: SubmitRequest, progress: Progress) -> Dry | Submitted | FollowedJob:
    """Check everything, start the job, and come back when it runs; with `once` or `follow` when it has ended."""
    job_file.require(wish.job)
    asked = _settings(cluster, wish)
    folder = registry.folder(cluster, asked["name"])
    with registry.locked(folder):
        prepared = _prepared(kafka, folder, asked, wish, progress)
        if wish.dry_run:
            return Dry(prepared)
        begun = time.monotonic()
        job, before = _started(prepared, cluster)
    if wish.once or wish.follow:
        ended = follow(job, before, progress)
        _start_sooner(prepared)
        return ended
    until_running(job)
    _start_sooner(prepared)
    return Submitted(job, time.monotonic() - begun)


def _start_sooner(prepared: Prepared) -> None:
    """Let the next driver start sooner; only now, because this one should not wait for it."""
    if prepared.runtime:
        driver_class_archive.make(prepared.runtime)


def _settings(cluster: str, wish: SubmitRequest) -> dict[str, Any]:
    """What the job's file says, with the places that it leaves to us filled in."""
    file = wish.file or job_file.example(wish.job)
    found = job_file.settings(file, wish.job, wish.name)
    folder, name = registry.folder(cluster, found["name"]), found["name"]
    if "sink" in found:
        path = found["sink"]["path"] or str(paths.home() / "lake" / cluster / name)
        found["sink"] = {**found["sink"], "path": locations.resolved(path, file.parent)}
    if "checkpoint" in found:
        found["checkpoint"] = locations.resolved(found["checkpoint"] or str(folder / "checkpoint"), file.parent)
    for key in WRITTEN.keys() & found.keys():
        found[key] = found[key] or found["topics"][0] + WRITTEN[key]
    return found


def _prepared(
    kafka: Kafka, folder: Path, asked: Mapping[str, Any], wish: SubmitRequest, progress: Progress
) -> Prepared:
    """Every check, the cheap ones first; then the files that the job reads."""
    _not_running(folder)
    spark = runtime.require() if "spark" in asked else None
    place = where(wish.engine, wish.master) if spark else Where("")
    clients = client_security.clients(wish.client)
    metadata = kafka.metadata()
    known = of_metadata(metadata)
    read = cluster_prechecks.present(known, asked["topics"])
    mine = _identity(kafka, asked, str(metadata.cluster_id))
    _places(folder, asked, place.master, mine, shared_path=wish.shared_path)
    told = {**place.settings(asked["spark"], progress), **asked["spark"]} if spark else {}
    jars = (connector.jars(progress), connector.extra(progress, asked)) if spark else ([], [])
    cluster_prechecks.written(kafka, known, _outputs(asked), read[0], progress, dry=wish.dry_run)
    _write(folder, asked, mine, clients, submit_command.properties(spark, told))
    run = _line(spark, *jars, place, folder, kafka.bootstrap)
    run = run.with_options("--once") if wish.once else run
    return Prepared(folder, asked, run, spark, str(metadata.cluster_id), kafka.bootstrap, place.master, wish.once)


def _line(
    spark: runtime.Runtime | None,
    jars: Sequence[Path],
    extra: Sequence[Path],
    place: Where,
    folder: Path,
    bootstrap: str,
) -> submit_command.SubmitCommand:
    if spark is None:
        return submit_command.plain(folder, bootstrap)
    if place.engine is not None:  # its hosts have the jars for Kafka
        return submit_command.submit(spark, extra, place.master, folder, bootstrap, there=jars)
    return submit_command.submit(spark, [*jars, *extra], place.master, folder, bootstrap)


def _not_running(folder: Path) -> None:
    """Refuse a job that runs; one that ended or was killed a moment ago is waited for."""
    job = registry.at(folder)
    if job and not (job.state in registry.ENDED and gone(job)):
        raise LockedError(
            f"the job {job.name} runs already (pid {job.record.process.pid})",
            resolution=f"kcluster job status {job.name}, kcluster job stop {job.name}, or another --name",
        )
    if registry.in_use(folder / f"{folder.name}.lock", within=_LETS_GO_WITHIN):
        raise LockedError(
            f"the job {folder.name} runs already, from a line that a dry run printed",
            resolution=f"touch {folder / 'stop'}: it ends after the batch in hand; or another --name",
        )


def _identity(kafka: Kafka, asked: Mapping[str, Any], cluster_id: str) -> locations.JobIdentity | None:
    """Whose the job's checkpoint is to be; None for a job that keeps none."""
    if not asked.get("checkpoint"):
        return None
    read, sink = list(asked["topics"]), asked.get("sink", {}).get("path", "")
    return locations.JobIdentity(asked["job"], asked["name"], read, sink, cluster_id, topics.ids(kafka, read))


def _places(
    folder: Path, asked: Mapping[str, Any], master: str, mine: locations.JobIdentity | None, *, shared_path: bool
) -> None:
    """Checkpoint and sink: reachable by every worker, nobody else's, and fit to be written."""
    checkpoint, sink = asked.get("checkpoint", ""), asked.get("sink", {}).get("path", "")
    locations.shared((sink, checkpoint), master or LOCAL, promised=shared_path)
    locations.unclaimed(folder, checkpoint, sink)
    if sink:
        locations.writable(sink)
    if mine:
        locations.owned(checkpoint, mine)
    if sink and checkpoint:
        locations.belongs(sink, checkpoint)
    fits(asked)


def _write(
    folder: Path,
    asked: Mapping[str, Any],
    mine: locations.JobIdentity | None,
    clients: Mapping[str, Any],
    properties: str,
) -> None:
    """The files that the job reads; those with passwords are for the owner only."""
    registry.save(folder / "job.json", _without_empty(asked))
    registry.save(folder / "owner.json", asdict(mine) if mine else {})
    (folder / submit_command.PROPERTIES).unlink(missing_ok=True)
    with open(os.open(folder / submit_command.PROPERTIES, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write(properties)
    if clients:
        registry.save(folder / "clients.json", clients)
    else:
        (folder / "clients.json").unlink(missing_ok=True)
    (folder / "stop").unlink(missing_ok=True)


def _outputs(asked: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """The topics that the job writes to, and how they are made where they are not there yet."""
    return {asked[key]: cluster_prechecks.OUTPUTS.get(key, {}) for key in sorted(WRITTEN.keys() & asked.keys())}


def _without_empty(value: Any) -> Any:
    """Settings without empty lists: in a file they are a mistake, and leaving them out means the same."""
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _without_empty(each) for key, each in value.items() if each not in ([], (), None)}


def _started(prepared: Prepared, cluster: str) -> tuple[Job, int]:
    """Start the process and keep its record; the job, and how much it had told of batches before."""
    folder, asked = prepared.folder, prepared.settings
    log = folder / "driver.log"
    (folder / "state.json").unlink(missing_ok=True)
    if log.exists():
        log.replace(folder / "driver.log.before")
    environment = {**os.environ, **prepared.line.environment, registry.MARK: str(folder)}
    if not os.access(prepared.line.command[0], os.X_OK):
        raise UsageError(f"{prepared.line.command[0]} cannot be run", resolution=runtime.INSTALL)
    with processes.signals_blocked():
        process = processes.start(prepared.line.process, environment=environment, directory=folder, output=log)
        record = JobRecord(
            job=asked["job"],
            name=asked["name"],
            cluster=cluster,
            cluster_id=prepared.cluster_id,
            topics=list(asked["topics"]),
            bootstrap=prepared.bootstrap,
            master=prepared.master,
            once=prepared.once,
            checkpoint=asked.get("checkpoint", ""),
            sink=asked.get("sink", {}).get("path", ""),
            submitted=time.time(),
            command=str(prepared.line),
            process=process,
        )
        job = registry.note(folder, record)
    return job, job.progress_size()
