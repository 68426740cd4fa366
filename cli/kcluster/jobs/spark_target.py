"""Where a job runs: on this machine, on the Spark of its inventory, or where `--master` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kcluster.clients.spark import submit_command
from kcluster.jobs import capacity
from kcluster.model.spark_cluster import SparkCluster
from kcluster.results import Progress

LOCAL = "local[*]"

_GROUP_WRITES = {"spark.hadoop.fs.permissions.umask-mode": submit_command.UMASK}
"""Executors run as another user than the driver, and both write in the same folders."""


@dataclass(frozen=True)
class Where:
    """The master of a job."""

    master: str
    engine: SparkCluster | None = None
    """The Spark of the inventory, when the job runs there."""

    def settings(self, asked: Mapping[str, str], progress: Progress) -> dict[str, str]:
        """What Spark is told beside what the job's file asks for; waits for a moment until there is room.

        The secret is among it: this belongs into a file for its owner only.
        """
        ours = dict(_GROUP_WRITES) if submit_command.standalone(self.master) else {}
        if self.engine:
            ours |= capacity.taken(self.engine, asked, progress)
            if self.engine.secret:
                ours |= {"spark.authenticate": "true", "spark.authenticate.secret": self.engine.secret}
        return ours


def where(engine: SparkCluster | None, wanted: str) -> Where:
    """What is said on the command line, else the inventory's Spark, else this machine."""
    if engine and wanted in ("", engine.url):
        return Where(engine.url, engine)
    return Where(wanted or LOCAL)
