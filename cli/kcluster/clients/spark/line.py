"""The line that runs a job: spark-submit for most, plain Python for a job that needs no Spark."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kcluster import paths
from kcluster.clients.spark import archive
from kcluster.clients.spark.runtime import Runtime

LOGGING = Path(__file__).parent / "log4j2.properties"
"""Warnings and errors into the log, and nothing of what Spark tells all day."""
PROPERTIES = "spark.properties"
"""The file beside a job's settings with Spark's own: values there are in no process list."""

_JVM = "spark.driver.extraJavaOptions"
"""Ours are the log, the archive of classes, and the collector that takes the least of the cores: nobody waits for a
pause of a batch."""


@dataclass(frozen=True)
class Line:
    """A command with what it needs in its environment; it holds no secrets: those are in files of the job's folder."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Ready to paste into a shell."""
        return shlex.join(["env", *(f"{key}={value}" for key, value in self.environment.items()), *self.command])

    def with_options(self, *more: str) -> Line:
        """The same with more words at its end."""
        return Line([*self.command, *more], self.environment)


def local(master: str) -> bool:
    """Whether this master means this machine alone."""
    return master.startswith("local")


def program() -> Path:
    """The way into every job."""
    return paths.project() / "spark_jobs" / "run.py"


def plain(folder: Path, bootstrap: str) -> Line:
    """The line of a job that needs no Spark."""
    return Line([sys.executable, *_wish(folder, bootstrap)])


def submit(runtime: Runtime, jars: Sequence[Path], master: str, folder: Path, bootstrap: str) -> Line:
    """The line of a job that runs on Spark."""
    environment = {"SPARK_HOME": str(runtime.spark_home), "JAVA_HOME": str(runtime.java_home)}
    if local(master):
        # Without the address Spark asks the name service for this machine's, and warns or fails where that has none.
        environment |= {"PYSPARK_PYTHON": str(runtime.python), "SPARK_LOCAL_IP": "127.0.0.1"}
    else:
        environment |= {"PYSPARK_DRIVER_PYTHON": str(runtime.python)}
    options = ["--master", master, "--name", folder.name, "--jars", ",".join(map(str, jars))]
    options += ["--properties-file", str(folder / PROPERTIES), "--load-spark-defaults"]
    return Line([str(runtime.submit), *options, *_wish(folder, bootstrap)], environment)


def properties(runtime: Runtime | None, settings: Mapping[str, str]) -> str:
    """Spark's own settings as its file of properties; the driver's JVM is not there yet when Python could set them."""
    theirs = settings.get(_JVM, "")
    collector = "" if re.search(r"-XX:\+Use\w+GC", theirs) else "-XX:+UseParallelGC"  # Java refuses two
    logging = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
    classes = archive.options(runtime, theirs) if runtime else ""
    every = {**settings, _JVM: " ".join(filter(None, (logging, collector, classes, theirs)))}
    return "".join(f"{key} {_escaped(value)}\n" for key, value in every.items())


def _escaped(value: str) -> str:
    """A value as Java reads it back."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _wish(folder: Path, bootstrap: str) -> list[str]:
    return [str(program()), str(folder / "job.json"), "--bootstrap", bootstrap, "--folder", str(folder)]
