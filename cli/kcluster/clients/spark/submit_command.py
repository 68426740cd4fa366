"""The command that runs a job: spark-submit, or plain Python for a job without Spark."""

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
from kcluster.clients.spark.runtime import SparkRuntime
from kcluster.errors import UnreachableError

LOGGING = Path(__file__).parent / "log4j2.properties"
"""Log configuration: warnings and errors only."""
PROPERTIES = "spark.properties"
"""The file in the job directory with Spark properties, which keeps values out of process lists."""
UMASK = "002"
"""Group write permission: executors run as another user than the driver."""

_JVM = "spark.driver.extraJavaOptions"
"""kcluster adds the log configuration, the class archive, and the garbage collector with the least CPU time: pauses
do not matter in batches."""

_PAGE = {"spark.ui.killEnabled": "false"}
"""The driver's web page has no password, so it is read-only unless a job's file enables more."""


@dataclass(frozen=True)
class SubmitCommand:
    """A command with its environment; without secrets, which are in files of the job directory."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    umask: str = ""
    """Empty: the umask of the caller."""

    def __str__(self) -> str:
        """The command for a shell."""
        arguments = ["env", *(f"{key}={value}" for key, value in self.environment.items()), *self.command]
        return f"umask {self.umask}; {shlex.join(arguments)}" if self.umask else shlex.join(arguments)

    @property
    def process(self) -> Sequence[str]:
        """The argument list of the process."""
        return (
            ["/bin/sh", "-c", f'umask {self.umask} && exec "$@"', "sh", *self.command] if self.umask else self.command
        )

    def with_options(self, *more: str) -> SubmitCommand:
        """The same command with further arguments."""
        return replace(self, command=[*self.command, *more])


def is_local(master: str) -> bool:
    """Whether this master is this machine only."""
    return master.startswith("local")


def is_standalone(master: str) -> bool:
    """Whether this master is a Spark standalone cluster, as the inventory's is."""
    return master.startswith("spark://")


def entry_point() -> Path:
    """The entry point of every job."""
    return paths.project() / "spark_jobs" / "run.py"


def plain_command(folder: Path, bootstrap: str) -> SubmitCommand:
    """The command of a job without Spark."""
    return SubmitCommand([sys.executable, *_job_arguments(folder, bootstrap)])


def spark_command(
    runtime: SparkRuntime,
    jars: Sequence[Path],
    master: str,
    folder: Path,
    bootstrap: str,
    *,
    on_hosts: Sequence[Path] = (),
) -> SubmitCommand:
    """The command of a job on Spark; `on_hosts` are jars that executors have and only the driver needs.

    UnreachableError when there is no route to a standalone master.
    """
    environment = {"SPARK_HOME": str(runtime.spark_home), "JAVA_HOME": str(runtime.java_home)}
    environment |= _environment(runtime, master)
    options = ["--master", master, "--name", folder.name]
    if on_hosts:
        # After Spark's own jars: before them they would invalidate the class archive.
        environment["SPARK_DIST_CLASSPATH"] = ":".join(map(str, on_hosts))
    if jars:
        options += ["--jars", ",".join(map(str, jars))]
    options += ["--properties-file", str(folder / PROPERTIES), "--load-spark-defaults"]
    command = [str(runtime.submit), *options, *_job_arguments(folder, bootstrap)]
    return SubmitCommand(command, environment, UMASK if is_standalone(master) else "")


def _environment(runtime: SparkRuntime, master: str) -> dict[str, str]:
    """Python and the driver's address, which Spark would otherwise look up by name."""
    if is_local(master):
        return {"PYSPARK_PYTHON": str(runtime.python), "SPARK_LOCAL_IP": "127.0.0.1"}
    python = {"PYSPARK_DRIVER_PYTHON": str(runtime.python)}
    if not is_standalone(master):
        return python
    address = _address(master)
    # Also as the host name: executors may not be able to resolve this machine's name.
    return {**python, "SPARK_LOCAL_IP": address, "SPARK_LOCAL_HOSTNAME": address}


def _address(master: str) -> str:
    """The local address of the route to a master; sends nothing."""
    first = urlsplit(master.partition(",")[0])
    try:
        ((family, _, _, _, there), *_) = socket.getaddrinfo(first.hostname, first.port or 7077, type=socket.SOCK_DGRAM)
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(there)
            return str(probe.getsockname()[0])
    except (OSError, ValueError) as problem:
        raise UnreachableError(f"no route to the Spark master {first.netloc}: {problem}") from problem


def properties_file(runtime: SparkRuntime | None, settings: Mapping[str, str]) -> str:
    """The content of the Spark properties file; needed because Python starts too late to set driver options."""
    requested = settings.get(_JVM, "")
    collector = "" if re.search(r"-XX:\+Use\w+GC", requested) else "-XX:+UseParallelGC"  # Java refuses two collectors
    logging = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
    classes = driver_class_archive.options(runtime, requested) if runtime else ""
    properties = {**_PAGE, **settings, _JVM: " ".join(filter(None, (logging, collector, classes, requested)))}
    return "".join(f"{key} {_escaped(value)}\n" for key, value in properties.items())


def _escaped(value: str) -> str:
    """A value escaped for a Java properties file."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _job_arguments(folder: Path, bootstrap: str) -> list[str]:
    return [str(entry_point()), str(folder / "job.json"), "--bootstrap", bootstrap, "--folder", str(folder)]
