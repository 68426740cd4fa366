"""`job dashboard`: a page with the newest position of each truck, served from what the job `latest` writes."""

from __future__ import annotations

import errno
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kcluster.clients import ports, processes
from kcluster.errors import LockedError, RefusedError, UsageError
from kcluster.jobs import registry
from kcluster.jobs.dashboard_server import DashboardServer, DashboardSource
from kcluster.jobs.following import until_running
from kcluster.jobs.registry import Job, JobRecord, JobState
from kcluster.results import Block, Cell, Message, Progress, Result, Tone

JOB = "latest"
"""The job that writes what the dashboard shows."""


@dataclass(frozen=True)
class Shown(Result):
    """A dashboard in the background."""

    url: str
    job: Job

    def data(self) -> Any:
        """Its address and its process."""
        return {"url": self.url, "name": self.job.name, "process": self.job.record.process.pid}

    def view(self) -> Iterable[Block]:
        """The address, and how to end it."""
        yield Cell(f"dashboard: {self.url}", Tone.GOOD)
        yield f"end it: kcluster job stop {self.job.name}"


def watched(name: str | None) -> Job:
    """The job that is shown: the one of a name, else the only one that tells positions."""
    if name:
        job = registry.pick(name)
        if job.record.job != JOB:
            raise UsageError(
                f"{name} is a job {job.record.job}, and the dashboard shows what {JOB} writes",
                resolution=f"kcluster job submit {JOB} --help",
            )
        return job
    found = [job for job in registry.every() if job.record.job == JOB]
    if not found:
        raise RefusedError(
            f"no job {JOB} was submitted on this machine, so there is nothing to show",
            resolution=f"kcluster job submit {JOB} -i INVENTORY",
        )
    if len(found) > 1:
        full = ", ".join(f"{job.record.cluster}/{job.name}" for job in found)
        raise UsageError(f"several jobs tell positions: {full}", resolution="name one: kcluster job dashboard NAME")
    return found[0]


def serve(name: str | None, host: str, port: int, progress: Progress) -> Message:
    """Serve the page until Ctrl-C, or in the background until the job of the dashboard is to stop."""
    job, folder = watched(name), _background()
    server = _server(job, host, port)
    url = address(host, server.server_port)
    progress(f"{job.name} is shown at {url} (Ctrl-C ends it)")
    if not server.local:
        progress(f"whoever reaches {host} sees the positions: the page asks for no password")
    try:
        _tell(folder, JobState.RUNNING, web=url)
        server.serve(lambda: bool(folder and (folder / "stop").exists()))
    except KeyboardInterrupt:
        pass  # the way to end it
    _tell(folder, JobState.STOPPED)
    return Message(f"the dashboard has ended; the job {job.name} is as it was")


def detach(name: str | None, host: str, port: int) -> Shown:
    """Serve the page in the background, as a job that `job stop` ends; come back when it answers."""
    job = watched(name)
    folder = registry.folder(job.record.cluster, f"{job.name}-dashboard")
    with registry.locked(folder):
        before = registry.at(folder)
        if before and before.alive:
            raise LockedError(
                f"{before.name} runs already (pid {before.record.process.pid})",
                resolution=f"kcluster job stop {before.name}",
            )
        _server(job, host, port).server_close()  # to say now what the process could only write into its log
        shown = _started(job, folder.name, host, port)
    until_running(shown)
    return Shown(address(host, port), shown)


def address(host: str, port: int) -> str:
    """Where a browser finds the page."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def _server(job: Job, host: str, port: int) -> DashboardServer:
    """The server, or why it cannot be at this address."""
    try:
        return DashboardServer(DashboardSource(job), host, port)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            free = next((each for each in range(port + 1, min(port + 200, 65536)) if ports.free(each)), None)
            raise UsageError(
                f"port {port} is taken", resolution=f"--port {free} is free" if free else "choose another --port"
            ) from problem
        raise UsageError(f"nothing can be served at {host}:{port}: {problem.strerror}") from problem


def _started(job: Job, name: str, host: str, port: int) -> Job:
    """The dashboard as a process of its own, with a record like every job."""
    folder = registry.folder(job.record.cluster, name)
    for old in ("state.json", "stop"):
        (folder / old).unlink(missing_ok=True)
    which = f"{job.record.cluster}/{job.name}"
    command = [sys.executable, "-m", "kcluster", "job", "dashboard", which, "--host", host, "--port", str(port)]
    environment = {**os.environ, registry.MARK: str(folder)}
    with processes.signals_blocked():
        output = folder / "driver.log"
        process = processes.start(command, environment=environment, directory=folder, output=output)
        watched = asdict(job.record)
        own = {"job": "dashboard", "name": name, "master": "", "once": False, "checkpoint": "", "sink": ""}
        now = {"submitted": time.time(), "command": shlex.join(command), "process": process}
        return registry.note(folder, JobRecord(**{**watched, **own, **now}))


def _background() -> Path | None:
    """The folder of this dashboard when it runs in the background."""
    folder = os.environ.get(registry.MARK)
    return Path(folder) if folder else None


def _tell(folder: Path | None, state: JobState, **more: str) -> None:
    """Write down the state for `job status`; a dashboard in the foreground has nobody to tell."""
    if folder:
        registry.save(folder / "state.json", {"state": state, "at": time.time(), **more})
