"""`job submit`: all checks first, then the job starts as a process that outlives the command."""

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
from kcluster.jobs.following import FollowedJob, follow, until_running, wait_until_gone
from kcluster.jobs.registry import Job, JobRecord
from kcluster.jobs.spark_target import LOCAL, SparkTarget, spark_target
from kcluster.jobs.table_prechecks import require_matching_table
from kcluster.model.client import Client
from kcluster.model.spark_cluster import SparkCluster
from kcluster.results import Block, Cell, Progress, Result, Tone

OUTPUT_TOPICS = {"dead_letters": ".dead-letters", "alerts": ".alerts"}
"""Keys that name an output topic, and the suffix of its default name."""

_LOCK_RELEASED_WITHIN = 2.0
"""Seconds for an ending process to release its lock."""


@dataclass(frozen=True)
class SubmitRequest:
    """The options of the command line."""

    job: str
    file: Path | None = None
    name: str = ""
    master: str = ""
    """Empty: the inventory's Spark cluster, else this machine."""
    spark_cluster: SparkCluster | None = None
    """The Spark cluster of the inventory."""
    client: Client = field(default_factory=Client)
    shared_path: bool = False
    once: bool = False
    follow: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class PreparedJob:
    """A job that passed every check and whose job directory is written."""

    folder: Path
    settings: Mapping[str, Any]
    line: submit_command.SubmitCommand
    runtime: runtime.SparkRuntime | None
    """None for a job without Spark."""
    cluster_id: str
    bootstrap: str
    master: str
    once: bool


@dataclass(frozen=True)
class DryRun(Result):
    """The command that would run."""

    prepared: PreparedJob

    def data(self) -> Any:
        """The command, and the settings without secrets."""
        return {"command": str(self.prepared.line), "settings": client_security.without_secrets(self.prepared.settings)}

    def view(self) -> Iterable[Block]:
        """The command alone, for a shell."""
        yield str(self.prepared.line)


@dataclass(frozen=True)
class SubmittedJob(Result):
    """A job that runs in the background."""

    job: Job
    seconds: float

    def data(self) -> Any:
        """Its record and state."""
        from kcluster.jobs.job_view import JobView

        return JobView.of(self.job).data()

    def view(self) -> Iterable[Block]:
        """That it runs, and the next commands."""
        job = self.job
        yield Cell(f"{job.name} is running (pid {job.record.process.pid}, started in {self.seconds:.1f} s)", Tone.GOOD)
        yield f"status: kcluster job status {job.name}    stop: kcluster job stop {job.name}"


def submit(
    kafka: Kafka, cluster: str, request: SubmitRequest, progress: Progress
) -> DryRun | SubmittedJob | FollowedJob:
    """Run all checks and start the job; returns when it runs, with `once` or `follow` when it has ended.

    Raises before the start what a check refuses, and SparkError when the job fails.
    """
    job_file.require_job(request.job)
    settings = _resolved_settings(cluster, request)
    folder = registry.job_dir(cluster, settings["name"])
    with registry.submit_lock(folder):
        prepared = _prepare(kafka, folder, settings, request, progress)
        if request.dry_run:
            return DryRun(prepared)
        begun = time.monotonic()
        job, before = _start(prepared, cluster)
    if request.once or request.follow:
        ended = follow(job, before, progress)
        _archive_driver_classes(prepared)
        return ended
    until_running(job)
    _archive_driver_classes(prepared)
    return SubmittedJob(job, time.monotonic() - begun)


def _archive_driver_classes(prepared: PreparedJob) -> None:
    """Archive the driver's classes for a faster next start, after this job has started."""
    if prepared.runtime:
        driver_class_archive.make(prepared.runtime)


def _resolved_settings(cluster: str, request: SubmitRequest) -> dict[str, Any]:
    """The settings of the job's file with default paths and topics filled in."""
    file = request.file or job_file.example(request.job)
    settings = job_file.settings(file, request.job, request.name)
    folder, name = registry.job_dir(cluster, settings["name"]), settings["name"]
    if "sink" in settings:
        path = settings["sink"]["path"] or str(paths.home() / "lake" / cluster / name)
        settings["sink"] = {**settings["sink"], "path": locations.absolute_path(path, file.parent)}
    if "checkpoint" in settings:
        settings["checkpoint"] = locations.absolute_path(
            settings["checkpoint"] or str(folder / "checkpoint"), file.parent
        )
    for key in OUTPUT_TOPICS.keys() & settings.keys():
        settings[key] = settings[key] or settings["topics"][0] + OUTPUT_TOPICS[key]
    return settings


def _prepare(
    kafka: Kafka, folder: Path, settings: Mapping[str, Any], request: SubmitRequest, progress: Progress
) -> PreparedJob:
    """Run every check, cheap ones first; then write the job directory."""
    _require_not_running(folder)
    spark = runtime.require() if "spark" in settings else None
    target = spark_target(request.spark_cluster, request.master) if spark else SparkTarget("")
    clients = client_security.client_settings(request.client)
    metadata = kafka.metadata()
    existing = of_metadata(metadata)
    read = cluster_prechecks.require_topics(existing, settings["topics"])
    identity = _identity(kafka, settings, str(metadata.cluster_id))
    _check_locations(folder, settings, target.master, identity, shared_path=request.shared_path)
    spark_settings = {**target.settings(settings["spark"], progress), **settings["spark"]} if spark else {}
    jars = (connector.kafka_jars(progress), connector.extra_jars(progress, settings)) if spark else ([], [])
    cluster_prechecks.create_output_topics(
        kafka, existing, _output_topics(settings), read[0], progress, dry_run=request.dry_run
    )
    _write_job_dir(folder, settings, identity, clients, submit_command.properties_file(spark, spark_settings))
    run = _command(spark, *jars, target, folder, kafka.bootstrap)
    run = run.with_options("--once") if request.once else run
    return PreparedJob(
        folder, settings, run, spark, str(metadata.cluster_id), kafka.bootstrap, target.master, request.once
    )


def _command(
    spark: runtime.SparkRuntime | None,
    jars: Sequence[Path],
    extra: Sequence[Path],
    target: SparkTarget,
    folder: Path,
    bootstrap: str,
) -> submit_command.SubmitCommand:
    if spark is None:
        return submit_command.plain_command(folder, bootstrap)
    if target.cluster is not None:  # its hosts have the jars for Kafka
        return submit_command.spark_command(spark, extra, target.master, folder, bootstrap, on_hosts=jars)
    return submit_command.spark_command(spark, [*jars, *extra], target.master, folder, bootstrap)


def _require_not_running(folder: Path) -> None:
    """Refuse a job that is running; waits for one that is just ending."""
    job = registry.load_job(folder)
    if job and not (job.state in registry.ENDED and wait_until_gone(job)):
        raise LockedError(
            f"job {job.name} is already running (pid {job.record.process.pid})",
            resolution=f"stop it with kcluster job stop {job.name}, or use another --name",
        )
    if registry.is_locked(folder / f"{folder.name}.lock", within=_LOCK_RELEASED_WITHIN):
        raise LockedError(
            f"job {folder.name} is already running, started from the output of --dry-run",
            resolution=f"stop it with touch {folder / 'stop'}, or use another --name",
        )


def _identity(kafka: Kafka, settings: Mapping[str, Any], cluster_id: str) -> locations.JobIdentity | None:
    """The owner of the job's checkpoint; None for a job without one."""
    if not settings.get("checkpoint"):
        return None
    read, sink = list(settings["topics"]), settings.get("sink", {}).get("path", "")
    return locations.JobIdentity(settings["job"], settings["name"], read, sink, cluster_id, topics.ids(kafka, read))


def _check_locations(
    folder: Path, settings: Mapping[str, Any], master: str, identity: locations.JobIdentity | None, *, shared_path: bool
) -> None:
    """Check checkpoint and sink: reachable by every worker, unused, owned by this job, writable."""
    checkpoint, sink = settings.get("checkpoint", ""), settings.get("sink", {}).get("path", "")
    locations.require_shared((sink, checkpoint), master or LOCAL, confirmed=shared_path)
    locations.require_unused(folder, checkpoint, sink)
    if sink:
        locations.require_writable(sink)
    if identity:
        locations.require_owner(checkpoint, identity)
    if sink and checkpoint:
        locations.require_checkpoint_of_sink(sink, checkpoint)
    require_matching_table(settings)


def _write_job_dir(
    folder: Path,
    settings: Mapping[str, Any],
    identity: locations.JobIdentity | None,
    clients: Mapping[str, Any],
    properties: str,
) -> None:
    """Write the files that the job reads; those with secrets are for the owner only."""
    registry.save_json(folder / "job.json", _without_empty(settings))
    registry.save_json(folder / "owner.json", asdict(identity) if identity else {})
    (folder / submit_command.PROPERTIES).unlink(missing_ok=True)
    with open(os.open(folder / submit_command.PROPERTIES, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write(properties)
    if clients:
        registry.save_json(folder / "clients.json", clients)
    else:
        (folder / "clients.json").unlink(missing_ok=True)
    (folder / "stop").unlink(missing_ok=True)


def _output_topics(settings: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """The output topics with their configuration."""
    return {
        settings[key]: cluster_prechecks.OUTPUTS.get(key, {}) for key in sorted(OUTPUT_TOPICS.keys() & settings.keys())
    }


def _without_empty(value: Any) -> Any:
    """Settings without empty values: the job refuses empty lists, and leaving them out means the same."""
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _without_empty(each) for key, each in value.items() if each not in ([], (), None)}


def _start(prepared: PreparedJob, cluster: str) -> tuple[Job, int]:
    """Start the process and write its record; returns the job and the offset in its progress."""
    folder, settings = prepared.folder, prepared.settings
    log = folder / "driver.log"
    (folder / "state.json").unlink(missing_ok=True)
    if log.exists():
        log.replace(folder / "driver.log.before")
    environment = {**os.environ, **prepared.line.environment, registry.ENVIRONMENT_MARK: str(folder)}
    if not os.access(prepared.line.command[0], os.X_OK):
        raise UsageError(f"{prepared.line.command[0]} is not executable", resolution=runtime.install())
    with processes.signals_blocked():
        process = processes.start(prepared.line.process, environment=environment, directory=folder, output=log)
        record = JobRecord(
            job=settings["job"],
            name=settings["name"],
            cluster=cluster,
            cluster_id=prepared.cluster_id,
            topics=list(settings["topics"]),
            bootstrap=prepared.bootstrap,
            master=prepared.master,
            once=prepared.once,
            checkpoint=settings.get("checkpoint", ""),
            sink=settings.get("sink", {}).get("path", ""),
            submitted=time.time(),
            command=str(prepared.line),
            process=process,
        )
        job = registry.save_record(folder, record)
    return job, job.progress_size()
