"""The PySpark of this Python: which version, and where; found without importing it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from kcluster.clients import java
from kcluster.errors import RefusedError

VERSION = "4.1.3"
"""The one version the jobs and their jars are made for."""
JAVA = 17
"""The oldest Java that Spark 4 runs on."""

INSTALL = "pip install 'kcluster[spark]'"


@dataclass(frozen=True)
class Runtime:
    """What it takes to start Spark on this machine."""

    spark_home: Path
    java_home: Path
    python: Path

    @property
    def submit(self) -> Path:
        """The script that starts a job."""
        return self.spark_home / "bin" / "spark-submit"


def require() -> Runtime:
    """The PySpark and the Java of this machine, or an error that says what to install."""
    return Runtime(home(), java.require(JAVA, f"Spark {VERSION}").home, Path(sys.executable))


def home() -> Path:
    """Where the PySpark of this Python is, or an error that says how to install it."""
    found = util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise RefusedError(
            "PySpark is not installed: Spark needs it, every other command works without",
            details=f"looked for by {sys.executable}",
            resolution=INSTALL,
        )
    version = metadata.version("pyspark")
    if version != VERSION:
        raise RefusedError(f"PySpark {version} is installed, and kcluster needs {VERSION}", resolution=INSTALL)
    return Path(found.submodule_search_locations[0])
