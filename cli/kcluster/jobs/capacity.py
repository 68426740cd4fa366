"""The cores and memory that a job takes of the inventory's Spark cluster, and whether a worker has them free.

Without this check a job without an executor waits forever, and only its log says so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kcluster.clients.spark.master import MasterState, WorkerResources
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.facts import spark_masters
from kcluster.model.spark_cluster import SparkCluster
from kcluster.results import Progress, counted

CORES, EXECUTOR_CORES, MEMORY = "spark.cores.max", "spark.executor.cores", "spark.executor.memory"
"""Spark properties: most cores of a job; cores and memory of one executor."""

TASK_SETTINGS = ("spark.sql.shuffle.partitions", "spark.sql.sources.parallelPartitionDiscovery.parallelism")
"""Spark properties for the number of tasks: the defaults are hundreds, each with a round trip to another host."""

LEADS_WITHIN = 60.0
"""Seconds for a standby master to take over and a worker to register again."""
FREE_WITHIN = 30.0
"""Seconds until the resources of a job that just ended are free."""
_POLL = 0.5

_DEFAULT_MEMORY, _MIN_MEMORY = 1024, 512
"""MiB of an executor: Spark's default, and about the least that it accepts."""
_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2}


@dataclass(frozen=True)
class ExecutorRequest:
    """The cores of a job, and cores and memory of one of its executors."""

    cores: int
    executor_cores: int
    memory: int
    """MiB of one executor."""

    def fits(self, worker: WorkerResources) -> bool:
        """Whether a worker has enough free for one executor."""
        return worker.free_memory >= self.memory and worker.free_cores >= self.executor_cores

    def ever_fits(self, worker: WorkerResources) -> bool:
        """Whether a worker is large enough for one executor."""
        return worker.memory >= self.memory and worker.cores >= self.executor_cores


def resource_settings(cluster: SparkCluster, requested: Mapping[str, str], progress: Progress) -> dict[str, str]:
    """The Spark properties with a job's cores, memory and tasks; `requested` are those of its file.

    Blocks for up to a minute until a worker has them free; raises what is missing then.
    """
    begun, reported = time.monotonic(), ""
    while isinstance(request := _request(cluster, requested), KclusterError):
        within = FREE_WITHIN if isinstance(request, RefusedError) else LEADS_WITHIN
        if time.monotonic() > begun + within:
            raise request
        if request.message != reported:
            progress(f"{(reported := request.message)}; waiting up to {within:.0f} s")
        time.sleep(_POLL)
    parts = str(2 * request.cores)
    return {CORES: str(request.cores), MEMORY: f"{request.memory}m", **dict.fromkeys(TASK_SETTINGS, parts)}


def _request(cluster: SparkCluster, requested: Mapping[str, str]) -> ExecutorRequest | KclusterError:
    """What the job may take now; a problem that may pass is returned, a permanent one raised."""
    states = spark_masters.states(cluster)
    if (leader := next((state for state in states.values() if state.leads), None)) is None:
        return _no_leader(cluster, states)
    if not leader.resources:
        return UnreachableError(
            f"no Spark worker of {cluster.name} is registered",
            details="\n".join(f"{node.name} at {node.host.address}:{node.port}" for node in cluster.workers),
            resolution="see kcluster status; start workers with kcluster start",
        )
    request = _default_request(leader.resources, requested)
    if not any(request.ever_fits(worker) for worker in leader.resources):
        raise _too_large(cluster, request, leader.resources)
    return (
        request
        if any(request.fits(worker) for worker in leader.resources)
        else _no_free_worker(cluster, request, leader)
    )


def _default_request(workers: Sequence[WorkerResources], requested: Mapping[str, str]) -> ExecutorRequest:
    """Half of the cores, and memory so that two jobs fit on each worker, unless the file sets them."""
    half = -(-sum(worker.cores for worker in workers) // 2)
    memory = max(_MIN_MEMORY, min(_DEFAULT_MEMORY, min(worker.memory for worker in workers) // 2))
    return ExecutorRequest(
        _number(requested.get(CORES)) or half,
        _number(requested.get(EXECUTOR_CORES)) or 1,
        _mib(requested.get(MEMORY)) or memory,
    )


def _no_leader(cluster: SparkCluster, states: Mapping[str, MasterState]) -> UnreachableError:
    reports = [
        f"{node.name} at {node.host.address}:{node.web_port}: "
        + (states[node.name].status.lower() if node.name in states else "does not answer")
        for node in cluster.masters
    ]
    problem = UnreachableError(
        f"no Spark master of {cluster.name} is the leader",
        details="\n".join(reports),
        resolution="start one with kcluster start (see kcluster status), or run here: --master 'local[*]'",
    )
    if not states:  # waiting does not help when no master answers
        raise problem
    return problem


def _too_large(cluster: SparkCluster, request: ExecutorRequest, workers: Sequence[WorkerResources]) -> RefusedError:
    best = max(workers, key=lambda worker: (worker.memory, worker.cores))
    return RefusedError(
        f"no worker of {cluster.name} is large enough for an executor of {_executor(request)}",
        details=f"the largest has {_executor(ExecutorRequest(0, best.cores, best.memory))}",
        resolution=f"lower {MEMORY} and {EXECUTOR_CORES} in `spark` of the job's file, or use larger workers",
    )


def _no_free_worker(cluster: SparkCluster, request: ExecutorRequest, leader: MasterState) -> RefusedError:
    return RefusedError(
        f"no worker of {cluster.name} has {_executor(request)} free for an executor",
        details="\n".join(f"{name} has {_cores(cores)}" for name, cores in sorted(leader.cores.items())),
        resolution=f"stop a job, or lower {CORES} and {MEMORY} in `spark` of the jobs' files",
    )


def _executor(request: ExecutorRequest) -> str:
    return f"{_cores(request.executor_cores)} and {request.memory} MiB"


def _cores(number: int) -> str:
    return counted(number, "core")


def _number(text: str | None) -> int:
    """A number of cores; 0 for invalid text, which Spark reports itself."""
    return int(text) if text and text.isdecimal() else 0


def _mib(text: str | None) -> int:
    """Memory in MiB, as Spark parses it; 0 for invalid text, which Spark reports itself."""
    parts = re.fullmatch(r"(\d+)(?:([kmgt])b?)?", (text or "").strip().lower())
    return int(int(parts[1]) * _UNITS[parts[2] or "m"]) if parts else 0
