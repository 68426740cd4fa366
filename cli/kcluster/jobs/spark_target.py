"""Where a job runs: on this machine, on the Spark cluster of the inventory, or on the given `--master`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kcluster.clients.spark import submit_command
from kcluster.jobs import capacity
from kcluster.model.spark_cluster import SparkCluster
from kcluster.results import Progress

LOCAL = "local[*]"

_GROUP_WRITES = {"spark.hadoop.fs.permissions.umask-mode": submit_command.UMASK}
"""Executors run as another user than the driver, and both write to the same folders."""


@dataclass(frozen=True)
class SparkTarget:
    """The Spark master of a job."""

    master: str
    cluster: SparkCluster | None = None
    """The Spark cluster of the inventory, when the job runs there."""

    def settings(self, requested: Mapping[str, str], progress: Progress) -> dict[str, str]:
        """Spark properties besides those of the job's file; blocks until the cluster has resources, or raises.

        They include the secret: write them only to files that the owner alone can read.
        """
        ours = dict(_GROUP_WRITES) if submit_command.is_standalone(self.master) else {}
        if self.cluster:
            ours |= capacity.resource_settings(self.cluster, requested, progress)
            if self.cluster.secret:
                ours |= {"spark.authenticate": "true", "spark.authenticate.secret": self.cluster.secret}
        return ours


def spark_target(cluster: SparkCluster | None, master: str) -> SparkTarget:
    """The master of the command line, else the inventory's Spark cluster, else this machine."""
    if cluster and master in ("", cluster.url):
        return SparkTarget(cluster.url, cluster)
    return SparkTarget(master or LOCAL)
