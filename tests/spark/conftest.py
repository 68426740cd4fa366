"""Spark in this process for what needs no cluster, and jobs as processes for what does."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from unittest.mock import patch

import pytest

from kcluster.clients.spark import connector, driver_class_archive, runtime, submit_command
from spark_jobs.runtime import process_lock
from tests import progress
from tests.fetched import EVERY
from tests.lab.disk import SmallDisk
from tests.loopback import own_loopback

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 400.0
"""Seconds within which a job on a busy machine has done what a test waits for."""

Found = TypeVar("Found")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local session for all tests, with the settings of the jobs."""
    from spark_jobs.ingest.sinks import spark_settings
    from spark_jobs.runtime.session import spark_session
    from spark_jobs.settings.ingest import SinkSettings

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    small = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
    }
    formats = spark_settings(SinkSettings("delta")) | spark_settings(SinkSettings("iceberg"))
    extra = [jar for asked in EVERY for jar in connector.extra_jars(print, asked)]
    jars = ",".join(map(str, [*connector.kafka_jars(print), *extra]))
    made = spark_session("tests", {**small, **formats, "spark.jars": jars, "spark.log.level": "ERROR"})
    yield made
    with own_loopback():
        made.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def pytest_itemcollected(item: pytest.Item) -> None:
    """PySpark leaves the sockets of `collect` to the garbage collector."""
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


def until(look: Callable[[], Found], what: str, within: float = PATIENCE) -> Found:
    """What `look` finds, as soon as it finds something."""
    asked = time.monotonic()
    deadline = asked + within
    while not (found := look()):
        answered = time.monotonic()
        assert answered < deadline, f"not within {within:.0f} s: {what}"
        time.sleep(max(0.02, answered - asked))  # half of the time is left to what is waited for
        asked = time.monotonic()
    return found


class Job:
    """An ingest: as a process of its own, started with the very line that the CLI uses, or run in this one.

    The start of a driver costs eight seconds of CPU, and a run that nobody cuts off tells the same in both.
    """

    def __init__(self, folder: Path, bootstrap: str, jars: list[Path], topic: str, **settings: Any) -> None:
        self.folder, self.table, self.checkpoint = folder, folder / "table", folder / "checkpoint"
        folder.mkdir(parents=True, exist_ok=True)
        self.bootstrap, self.jars = bootstrap, jars
        self.settings: dict[str, Any] = {
            "job": "ingest",
            "name": folder.name,
            "topics": [topic],
            "dead_letters": f"{topic}.dead-letters",
            "every": "100ms",
            "format": {"schema": {"truck_id": "string", "lat": "double", "n": "bigint"}},
            "rules": {"bad_position": "lat between -90 and 90"},
            "checkpoint": str(self.checkpoint),
            **settings,
            "sink": {"path": str(self.table), **settings.get("sink", {})},
        }
        (folder / submit_command.PROPERTIES).write_text(
            submit_command.properties_file(runtime.require(), {"spark.ui.enabled": "false"})
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start it as the leader of a process group, which ends when this process is killed."""
        (self.folder / "job.json").write_text(json.dumps(self.settings))
        command = submit_command.spark_command(runtime.require(), self.jars, "local[2]", self.folder, self.bootstrap)
        words = ["setpriv", "--pdeathsig", "KILL", *command.with_options(*options).command]
        with (self.folder / "driver.log").open("ab") as log:
            environment = {**os.environ, **command.environment}
            self.process = subprocess.Popen(
                words, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, process_group=0
            )
        return self.process

    @property
    def ended(self) -> bool:
        """Whether its process is gone, so that nobody need wait for it; what it said of itself tells why."""
        return self.process is not None and self.process.poll() is not None

    def kill(self) -> None:
        """End the whole group with signal 9."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def once(self) -> dict[str, Any]:
        """Let it read what is there, in this process; the state it ends in."""
        self.run_here("--once")
        return self.state()

    def run_here(self, *options: str) -> None:
        """Run it in this process and its session, without the locks: they last as long as the process."""
        (self.folder / "job.json").write_text(json.dumps(self.settings))
        words = ["run.py", str(self.folder / "job.json"), "--bootstrap", self.bootstrap, "--folder", str(self.folder)]
        with (
            patch.object(sys, "path", [*sys.path]),  # run.py changes it
            patch.object(sys, "argv", [*words, *options]),
            patch.object(process_lock, "lock_folder"),
            patch.object(process_lock, "lock_checkpoint"),
        ):
            from spark_jobs import run

            run.main()

    def stop(self) -> dict[str, Any]:
        """Let it end after the batch in hand; the state it ends in."""
        (self.folder / "stop").touch()
        assert self.process is not None
        self.process.wait(PATIENCE)
        return self.state()

    def audit(self) -> dict[str, Any]:
        """Its account, taken in this process."""
        (self.folder / "audit.json").unlink(missing_ok=True)
        self.run_here("--audit")
        return dict(json.loads((self.folder / "audit.json").read_text()))

    def state(self) -> dict[str, Any]:
        """What it says of itself."""
        return dict(json.loads((self.folder / "state.json").read_text()))

    def progress(self) -> list[dict[str, Any]]:
        """What it said of its batches."""
        return progress.batches(self.folder)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of its own, whose power can be cut."""
    made = SmallDisk.at(tmp_path, "own")
    made.create(256)
    yield made
    made.discard()


def cut_power(disk: SmallDisk) -> None:
    """Cut the power of a disk at the worst moment: all names are written, for another file's sake, and no content."""
    with (disk.mount_point / "another").open("w") as file:
        os.fsync(file.fileno())
    disk.lose_unsynced()


@pytest.fixture(scope="session")
def sooner() -> None:
    """The archive of classes: made once, it takes a third off the start of each driver."""
    driver_class_archive.make(runtime.require(), wait=True)


@pytest.fixture
def ingest(tmp_path: Path, sooner: None, spark: SparkSession) -> Iterator[Callable[..., Job]]:
    """Makes a job: `ingest(bootstrap, topic, name="a", when_data_is_gone="continue")`; killed at the end."""
    jobs: list[Job] = []

    def make(bootstrap: str, topic: str, name: str = "job", **settings: Any) -> Job:
        jars = [*connector.kafka_jars(print), *connector.extra_jars(print, settings)]
        jobs.append(Job(tmp_path / name, bootstrap, jars, topic, **settings))
        return jobs[-1]

    yield make
    for job in jobs:
        if job.process is not None and job.process.poll() is None:
            job.kill()
