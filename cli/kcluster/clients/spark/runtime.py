"""The PySpark of this Python: version and location, without importing it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from kcluster.clients import java, python_packages
from kcluster.errors import RefusedError

VERSION = "4.1.3"
"""The only version that jobs and jars support."""
JAVA = 17
"""The oldest Java for Spark 4."""


@dataclass(frozen=True)
class SparkRuntime:
    """The installation with which Spark starts on this machine."""

    spark_home: Path
    java_home: Path
    python: Path

    @property
    def submit(self) -> Path:
        """spark-submit."""
        return self.spark_home / "bin" / "spark-submit"


def require() -> SparkRuntime:
    """PySpark and Java of this machine; RefusedError says what to install."""
    return SparkRuntime(home(), java.require(JAVA, f"Spark {VERSION}").home, Path(sys.executable))


def install(*, again: bool = False) -> str:
    """The command that installs this version of PySpark; `again`: over damaged files."""
    return python_packages.install(f"pyspark=={VERSION}", again=again)


def home() -> Path:
    """The folder of this Python's PySpark; RefusedError when it is missing or of another version."""
    spec = util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise RefusedError(
            "PySpark is not installed (only Spark needs it; other commands work without)",
            details=f"Python: {sys.executable}",
            resolution=install(),
        )
    version = metadata.version("pyspark")
    if version != VERSION:
        raise RefusedError(f"PySpark {version} is installed, and kcluster needs {VERSION}", resolution=install())
    return Path(spec.submodule_search_locations[0])
