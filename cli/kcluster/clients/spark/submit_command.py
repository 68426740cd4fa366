"""The line that runs a job: spark-submit for most, plain Python for a job that needs no Spark."""

from __future__ import annotations

import re
import shlex
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from kcluster import paths
from kcluster.clients.spark import driver_class_archive
from kcluster.clients.spark.runtime import Runtime
from kcluster.errors import UnreachableError

LOGGING = Path(__file__).parent / "log4j2.properties"
"""Warnings and errors into the log, and nothing of what Spark tells all day."""
PROPERTIES = "spark.properties"
"""The file beside a job's settings with Spark's own: values there are in no process list."""
UMASK = "002"
"""Who is in the group of a folder writes what is in it: executors run as another user than the driver."""

_JVM = "spark.driver.extraJavaOptions"
"""Ours are the log, the archive of classes, and the collector that takes the least of the cores: nobody waits for a
pause of a batch."""

_PAGE = {"spark.ui.killEnabled": "false"}
"""The driver's page asks for no password, so it shows and does nothing, unless a job's file says otherwise."""


@dataclass(frozen=True)
class SubmitCommand:
    """A command with what it needs in its environment; it holds no secrets: those are in files of the job's folder."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    umask: str = ""
    """Empty: that of whoever starts it."""

    def __str__(self) -> str:
        """Ready to paste into a shell."""
        words = ["env", *(f"{key}={value}" for key, value in self.environment.items()), *self.command]
        return f"umask {self.umask}; {shlex.join(words)}" if self.umask else shlex.join(words)

    @property
    def process(self) -> Sequence[str]:
        """The words of the process that runs it."""
        return (
            ["/bin/sh", "-c", f'umask {self.umask} && exec "$@"', "sh", *self.command] if self.umask else self.command
        )

    def with_options(self, *more: str) -> SubmitCommand:
        """The same with more words at its end."""
        return replace(self, command=[*self.command, *more])


def local(master: str) -> bool:
    """Whether this master means this machine alone."""
    return master.startswith("local")


def standalone(master: str) -> bool:
    """Whether this master is Spark's own, as the inventory's is."""
    return master.startswith("spark://")


def program() -> Path:
    """The way into every job."""
    return paths.project() / "spark_jobs" / "run.py"


def plain(folder: Path, bootstrap: str) -> SubmitCommand:
    """The line of a job that needs no Spark."""
    return SubmitCommand([sys.executable, *_wish(folder, bootstrap)])


def submit(
    runtime: Runtime, jars: Sequence[Path], master: str, folder: Path, bootstrap: str, *, there: Sequence[Path] = ()
) -> SubmitCommand:
    """The line of a job that runs on Spark; `there` are jars that its hosts have, and only the driver does not."""
    environment = {"SPARK_HOME": str(runtime.spark_home), "JAVA_HOME": str(runtime.java_home)}
    environment |= _surroundings(runtime, master)
    options = ["--master", master, "--name", folder.name]
    if there:
        # Behind Spark's own: in front of them the archive of classes would not fit any more.
        environment["SPARK_DIST_CLASSPATH"] = ":".join(map(str, there))
    if jars:
        options += ["--jars", ",".join(map(str, jars))]
    options += ["--properties-file", str(folder / PROPERTIES), "--load-spark-defaults"]
    command = [str(runtime.submit), *options, *_wish(folder, bootstrap)]
    return SubmitCommand(command, environment, UMASK if standalone(master) else "")


def _surroundings(runtime: Runtime, master: str) -> dict[str, str]:
    """Which Python, and the address of the driver; without it Spark asks the name service, which may know none."""
    if local(master):
        return {"PYSPARK_PYTHON": str(runtime.python), "SPARK_LOCAL_IP": "127.0.0.1"}
    python = {"PYSPARK_DRIVER_PYTHON": str(runtime.python)}
    if not standalone(master):
        return python
    address = _address(master)
    # As its name too: executors call the driver by it, and may not know what this machine's name service knows.
    return {**python, "SPARK_LOCAL_IP": address, "SPARK_LOCAL_HOSTNAME": address}


def _address(master: str) -> str:
    """The address of this machine on its way to a master; nothing is sent to find it."""
    first = urlsplit(master.partition(",")[0])
    try:
        ((family, _, _, _, there), *_) = socket.getaddrinfo(first.hostname, first.port or 7077, type=socket.SOCK_DGRAM)
        with socket.socket(family, socket.SOCK_DGRAM) as way:
            way.connect(there)
            return str(way.getsockname()[0])
    except (OSError, ValueError) as problem:
        raise UnreachableError(f"there is no way to the master {first.netloc}: {problem}") from problem


def properties(runtime: Runtime | None, settings: Mapping[str, str]) -> str:
    """Spark's own settings as its file of properties; the driver's JVM is not there yet when Python could set them."""
    theirs = settings.get(_JVM, "")
    collector = "" if re.search(r"-XX:\+Use\w+GC", theirs) else "-XX:+UseParallelGC"  # Java refuses two
    logging = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
    classes = driver_class_archive.options(runtime, theirs) if runtime else ""
    every = {**_PAGE, **settings, _JVM: " ".join(filter(None, (logging, collector, classes, theirs)))}
    return "".join(f"{key} {_escaped(value)}\n" for key, value in every.items())


def _escaped(value: str) -> str:
    """A value as Java reads it back."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _wish(folder: Path, bootstrap: str) -> list[str]:
    return [str(program()), str(folder / "job.json"), "--bootstrap", bootstrap, "--folder", str(folder)]
