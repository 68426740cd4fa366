"""`job dashboard`: a web page with the newest position of each truck, from the file of the job `latest`."""

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
from kcluster.results import Block, Cell, Message, Progress, Result, Tone, counted

JOB = "latest"
"""The job whose output the dashboard shows."""


@dataclass(frozen=True)
class DetachedDashboard(Result):
    """A dashboard that runs in the background."""

    url: str
    job: Job

    def data(self) -> Any:
        """URL, name and process id."""
        return {"url": self.url, "name": self.job.name, "process": self.job.record.process.pid}

    def view(self) -> Iterable[Block]:
        """The URL, and how to stop it."""
        yield Cell(f"dashboard: {self.url}", Tone.GOOD)
        yield f"stop: kcluster job stop {self.job.name}"


def job_to_show(name: str | None) -> Job:
    """The `latest` job with a name, else the only one; UsageError or RefusedError when there is none or several."""
    if name:
        job = registry.pick(name)
        if job.record.job != JOB:
            raise UsageError(
                f"{name} is a job of type {job.record.job}; the dashboard needs one of type {JOB}",
                resolution=f"kcluster job submit {JOB} --help",
            )
        return job
    candidates = [job for job in registry.all_jobs() if job.record.job == JOB]
    if not candidates:
        raise RefusedError(
            f"no {JOB} job was submitted on this machine",
            resolution=f"kcluster job submit {JOB} -i INVENTORY",
        )
    if len(candidates) > 1:
        full = ", ".join(f"{job.record.cluster}/{job.name}" for job in candidates)
        raise UsageError(
            f"{counted(len(candidates), f'{JOB} job')} on this machine: {full}",
            resolution="kcluster job dashboard NAME",
        )
    return candidates[0]


def serve(name: str | None, host: str, port: int, progress: Progress) -> Message:
    """Serve the page; blocks until Ctrl-C, or in the background until `job stop`."""
    job, folder = job_to_show(name), _own_job_dir()
    server = _server(job, host, port)
    url = dashboard_url(host, server.server_port)
    progress(f"dashboard of {job.name}: {url} (Ctrl-C stops it)")
    if not server.local:
        progress(f"the page has no password: every client that reaches {host} can read the positions")
    try:
        _write_state(folder, JobState.RUNNING, web=url)
        server.serve(lambda: bool(folder and (folder / "stop").exists()))
    except KeyboardInterrupt:
        pass  # how it is stopped
    _write_state(folder, JobState.STOPPED)
    return Message(f"dashboard stopped; the state of job {job.name} is unchanged")


def detach(name: str | None, host: str, port: int) -> DetachedDashboard:
    """Serve the page in the background, as a job that `job stop` ends; returns when it runs."""
    job = job_to_show(name)
    folder = registry.job_dir(job.record.cluster, f"{job.name}-dashboard")
    with registry.submit_lock(folder):
        running = registry.load_job(folder)
        if running and running.alive:
            raise LockedError(
                f"{running.name} is already running (pid {running.record.process.pid})",
                resolution=f"kcluster job stop {running.name}",
            )
        _server(job, host, port).server_close()  # errors are reported now instead of in the log
        dashboard = _start(job, folder.name, host, port)
    until_running(dashboard)
    return DetachedDashboard(dashboard_url(host, port), dashboard)


def dashboard_url(host: str, port: int) -> str:
    """The URL of the page."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def _server(job: Job, host: str, port: int) -> DashboardServer:
    """The server; UsageError when the address cannot be used."""
    try:
        return DashboardServer(DashboardSource(job), host, port)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            free = next((each for each in range(port + 1, min(port + 200, 65536)) if ports.free(each)), None)
            raise UsageError(
                f"port {port} is in use",
                resolution=f"use --port {free}, which is free" if free else "use another --port",
            ) from problem
        raise UsageError(f"cannot listen on {host}:{port}: {problem.strerror}") from problem


def _start(job: Job, name: str, host: str, port: int) -> Job:
    """The dashboard as a process with a job record."""
    folder = registry.job_dir(job.record.cluster, name)
    for old in ("state.json", "stop"):
        (folder / old).unlink(missing_ok=True)
    which = f"{job.record.cluster}/{job.name}"
    command = [sys.executable, "-m", "kcluster", "job", "dashboard", which, "--host", host, "--port", str(port)]
    environment = {**os.environ, registry.ENVIRONMENT_MARK: str(folder)}
    with processes.signals_blocked():
        output = folder / "driver.log"
        process = processes.start(command, environment=environment, directory=folder, output=output)
        inherited = asdict(job.record)
        own = {"job": "dashboard", "name": name, "master": "", "once": False, "checkpoint": "", "sink": ""}
        now = {"submitted": time.time(), "command": shlex.join(command), "process": process}
        return registry.save_record(folder, JobRecord(**{**inherited, **own, **now}))


def _own_job_dir() -> Path | None:
    """The job directory of this dashboard; None in the foreground."""
    folder = os.environ.get(registry.ENVIRONMENT_MARK)
    return Path(folder) if folder else None


def _write_state(folder: Path | None, state: JobState, **more: str) -> None:
    """Write the state for `job status`; no effect in the foreground."""
    if folder:
        registry.save_json(folder / "state.json", {"state": state, "at": time.time(), **more})
