"""`job submit`: everything is checked first, then the job starts as a process that outlives the command."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kcluster import jobs, paths
from kcluster.clients import processes
from kcluster.clients.kafka import Kafka, topics
from kcluster.clients.kafka.topics import of_metadata
from kcluster.clients.spark import archive, connector, line, runtime
from kcluster.errors import LockedError, UsageError
from kcluster.jobs import Job, Record
from kcluster.model.client import Client
from kcluster.model.engine import Engine
from kcluster.operations.job import places, preflight, security, settings
from kcluster.operations.job.fitting import fits
from kcluster.operations.job.watch import Followed, follow, gone, until_running
from kcluster.operations.job.where import LOCAL, Where, where
from kcluster.results import Block, Cell, Progress, Result, Tone

WRITTEN = {"dead_letters": ".dead-letters", "alerts": ".alerts"}
"""Settings that name a topic the job writes to, and how its name ends when the file leaves it to us."""

_LETS_GO_WITHIN = 2.0
"""Seconds in which a process that is just ending lets go of its lock: by then nothing else tells whose it was."""


@dataclass(frozen=True)
class Wish:
    """What the command line asks for."""

    job: str
    file: Path | None = None
    name: str = ""
    master: str = ""
    """Empty: the engine, and without one this machine."""
    engine: Engine | None = None
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
    line: line.Line
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
        return {"command": str(self.prepared.line), "settings": security.shown(self.prepared.settings)}

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
        from kcluster.operations.job.look import Seen

        return Seen.of(self.job).data()

    def view(self) -> Iterable[Block]:
        """That it runs, and how to look at it."""
        job = self.job
        yield Cell(f"{job.name} runs (pid {job.record.process.pid}, after {self.seconds:.1f} s)", Tone.GOOD)
        yield f"look: kcluster job status {job.name}    stop: kcluster job stop {job.name}"


def submit(kafka: Kafka, cluster: str, wish: Wish, progress: Progress) -> Dry | Submitted | Followed:
    """Check everything, start the job, and come back when it runs; with `once` or `follow` when it has ended."""
    settings.require(wish.job)
    asked = _settings(cluster, wish)
    folder = jobs.folder(cluster, asked["name"])
    with jobs.locked(folder):
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
        archive.make(prepared.runtime)


def _settings(cluster: str, wish: Wish) -> dict[str, Any]:
    """What the job's file says, with the places that it leaves to us filled in."""
    file = wish.file or settings.example(wish.job)
    found = settings.settings(file, wish.job, wish.name)
    folder, name = jobs.folder(cluster, found["name"]), found["name"]
    if "sink" in found:
        path = found["sink"]["path"] or str(paths.home() / "lake" / cluster / name)
        found["sink"] = {**found["sink"], "path": places.resolved(path, file.parent)}
    if "checkpoint" in found:
        found["checkpoint"] = places.resolved(found["checkpoint"] or str(folder / "checkpoint"), file.parent)
    for key in WRITTEN.keys() & found.keys():
        found[key] = found[key] or found["topics"][0] + WRITTEN[key]
    return found


def _prepared(kafka: Kafka, folder: Path, asked: Mapping[str, Any], wish: Wish, progress: Progress) -> Prepared:
    """Every check, the cheap ones first; then the files that the job reads."""
    _not_running(folder)
    spark = runtime.require() if "spark" in asked else None
    place = where(wish.engine, wish.master) if spark else Where("")
    clients = security.clients(wish.client)
    metadata = kafka.metadata()
    known = of_metadata(metadata)
    read = preflight.present(known, asked["topics"])
    mine = _identity(kafka, asked, str(metadata.cluster_id))
    _places(folder, asked, place.master, mine, shared_path=wish.shared_path)
    told = {**place.settings(asked["spark"], progress), **asked["spark"]} if spark else {}
    jars = (connector.jars(progress), connector.extra(progress, asked)) if spark else ([], [])
    preflight.written(kafka, known, _outputs(asked), read[0], progress, dry=wish.dry_run)
    _write(folder, asked, mine, clients, line.properties(spark, told))
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
) -> line.Line:
    if spark is None:
        return line.plain(folder, bootstrap)
    if place.engine is not None:  # its hosts have the jars for Kafka
        return line.submit(spark, extra, place.master, folder, bootstrap, there=jars)
    return line.submit(spark, [*jars, *extra], place.master, folder, bootstrap)


def _not_running(folder: Path) -> None:
    """Refuse a job that runs; one that ended or was killed a moment ago is waited for."""
    job = jobs.at(folder)
    if job and not (job.state in jobs.ENDED and gone(job)):
        raise LockedError(
            f"the job {job.name} runs already (pid {job.record.process.pid})",
            resolution=f"kcluster job status {job.name}, kcluster job stop {job.name}, or another --name",
        )
    if jobs.in_use(folder / f"{folder.name}.lock", within=_LETS_GO_WITHIN):
        raise LockedError(
            f"the job {folder.name} runs already, from a line that a dry run printed",
            resolution=f"touch {folder / 'stop'}: it ends after the batch in hand; or another --name",
        )


def _identity(kafka: Kafka, asked: Mapping[str, Any], cluster_id: str) -> places.Identity | None:
    """Whose the job's checkpoint is to be; None for a job that keeps none."""
    if not asked.get("checkpoint"):
        return None
    read, sink = list(asked["topics"]), asked.get("sink", {}).get("path", "")
    return places.Identity(asked["job"], asked["name"], read, sink, cluster_id, topics.ids(kafka, read))


def _places(
    folder: Path, asked: Mapping[str, Any], master: str, mine: places.Identity | None, *, shared_path: bool
) -> None:
    """Checkpoint and sink: reachable by every worker, nobody else's, and fit to be written."""
    checkpoint, sink = asked.get("checkpoint", ""), asked.get("sink", {}).get("path", "")
    places.shared((sink, checkpoint), master or LOCAL, promised=shared_path)
    places.unclaimed(folder, checkpoint, sink)
    if sink:
        places.writable(sink)
    if mine:
        places.owned(checkpoint, mine)
    if sink and checkpoint:
        places.belongs(sink, checkpoint)
    fits(asked)


def _write(
    folder: Path,
    asked: Mapping[str, Any],
    mine: places.Identity | None,
    clients: Mapping[str, Any],
    properties: str,
) -> None:
    """The files that the job reads; those with passwords are for the owner only."""
    jobs.save(folder / "job.json", _without_empty(asked))
    jobs.save(folder / "owner.json", asdict(mine) if mine else {})
    (folder / line.PROPERTIES).unlink(missing_ok=True)
    with open(os.open(folder / line.PROPERTIES, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write(properties)
    if clients:
        jobs.save(folder / "clients.json", clients)
    else:
        (folder / "clients.json").unlink(missing_ok=True)
    (folder / "stop").unlink(missing_ok=True)


def _outputs(asked: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """The topics that the job writes to, and how they are made where they are not there yet."""
    return {asked[key]: preflight.OUTPUTS.get(key, {}) for key in sorted(WRITTEN.keys() & asked.keys())}


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
    environment = {**os.environ, **prepared.line.environment, jobs.MARK: str(folder)}
    if not os.access(prepared.line.command[0], os.X_OK):
        raise UsageError(f"{prepared.line.command[0]} cannot be run", resolution=runtime.INSTALL)
    with processes.undisturbed():
        process = processes.start(prepared.line.process, environment=environment, directory=folder, output=log)
        record = Record(
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
        job = jobs.note(folder, record)
    return job, job.progress_size()
