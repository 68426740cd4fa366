"""Whether the inventory's Spark has room for a job, and how much of it the job takes.

Without this question a job that gets no executor waits for ever, and only its log says so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kcluster.clients.spark.master import MasterState, Room
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.facts import spark_masters
from kcluster.model.spark_cluster import SparkCluster
from kcluster.results import Progress

CORES, EXECUTOR_CORES, MEMORY = "spark.cores.max", "spark.executor.cores", "spark.executor.memory"
"""Spark's words for the most cores of a job, and for what one of its executors takes."""

PARTS = ("spark.sql.shuffle.partitions", "spark.sql.sources.parallelPartitionDiscovery.parallelism")
"""Into how many tasks a job cuts its work: by itself into hundreds, each with a way to another host."""

LEADS_WITHIN = 60.0
"""Seconds in which a standby master leads and a worker is back."""
FREE_WITHIN = 30.0
"""Seconds in which what a job had that just ended is free again."""
_LOOK = 0.5

_USUAL, _LEAST = 1024, 512
"""MiB of an executor: what Spark gives it by itself, and about the least that it accepts."""
_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2}


@dataclass(frozen=True)
class Share:
    """What a job takes of Spark's cores and memory."""

    cores: int
    executor_cores: int
    memory: int
    """MiB of one executor."""

    def fits(self, room: Room) -> bool:
        """Whether a worker could start one of its executors now."""
        return room.free_memory >= self.memory and room.free_cores >= self.executor_cores

    def ever_fits(self, room: Room) -> bool:
        """Whether a worker could if nobody else used it."""
        return room.memory >= self.memory and room.cores >= self.executor_cores


def taken(engine: SparkCluster, asked: Mapping[str, str], progress: Progress) -> dict[str, str]:
    """The words that give a job its share, as soon as there is room for it; `asked` are those that its file has."""
    begun, told = time.monotonic(), ""
    while isinstance(found := _share(engine, asked), KclusterError):
        within = FREE_WITHIN if isinstance(found, RefusedError) else LEADS_WITHIN
        if time.monotonic() > begun + within:
            raise found
        if found.message != told:
            progress(f"{(told := found.message)}; waiting up to {within:.0f} s")
        time.sleep(_LOOK)
    parts = str(2 * found.cores)
    return {CORES: str(found.cores), MEMORY: f"{found.memory}m", **dict.fromkeys(PARTS, parts)}


def _share(engine: SparkCluster, asked: Mapping[str, str]) -> Share | KclusterError:
    """What the job may take now; a problem that may be over soon is given, one that stays is raised."""
    states = spark_masters.states(engine)
    if (leader := next((said for said in states.values() if said.leads), None)) is None:
        return _nobody_leads(engine, states)
    if not leader.rooms:
        return UnreachableError(
            f"no Spark worker of {engine.name} serves",
            details="\n".join(f"{node.name} at {node.host.address}:{node.port}" for node in engine.workers),
            resolution="kcluster status shows which run, and kcluster start starts those that do not",
        )
    share = _wanted(leader.rooms, asked)
    if not any(share.ever_fits(room) for room in leader.rooms):
        raise _too_large(engine, share, leader.rooms)
    return share if any(share.fits(room) for room in leader.rooms) else _full(engine, share, leader)


def _wanted(rooms: Sequence[Room], asked: Mapping[str, str]) -> Share:
    """Half of the cores, so that a second job need not wait for the first; memory so that both fit on each worker."""
    half = -(-sum(room.cores for room in rooms) // 2)
    memory = max(_LEAST, min(_USUAL, min(room.memory for room in rooms) // 2))
    return Share(
        _number(asked.get(CORES)) or half, _number(asked.get(EXECUTOR_CORES)) or 1, _mib(asked.get(MEMORY)) or memory
    )


def _nobody_leads(engine: SparkCluster, states: Mapping[str, MasterState]) -> UnreachableError:
    told = [
        f"{node.name} at {node.host.address}:{node.web_port}: "
        + (states[node.name].status.lower() if node.name in states else "does not answer")
        for node in engine.masters
    ]
    problem = UnreachableError(
        f"no Spark master of {engine.name} leads",
        details="\n".join(told),
        resolution="kcluster status shows which run, kcluster start starts the others; here: --master 'local[*]'",
    )
    if not states:  # with nobody there, nobody will lead soon
        raise problem
    return problem


def _too_large(engine: SparkCluster, share: Share, rooms: Sequence[Room]) -> RefusedError:
    best = max(rooms, key=lambda room: (room.memory, room.cores))
    return RefusedError(
        f"no worker of {engine.name} is large enough for an executor of {_words(share)}",
        details=f"the largest has {_words(Share(0, best.cores, best.memory))}",
        resolution=f"{MEMORY} and {EXECUTOR_CORES} in `spark` of the job's file, or larger workers",
    )


def _full(engine: SparkCluster, share: Share, leader: MasterState) -> RefusedError:
    return RefusedError(
        f"no worker of {engine.name} has {_words(share)} free for an executor",
        details="\n".join(f"{name} has {_cores(cores)}" for name, cores in sorted(leader.cores.items())),
        resolution=f"stop a job, or give each less: {CORES} and {MEMORY} in `spark` of its file",
    )


def _words(share: Share) -> str:
    return f"{_cores(share.executor_cores)} and {share.memory} MiB"


def _cores(number: int) -> str:
    return f"{number} core{'' if number == 1 else 's'}"


def _number(text: str | None) -> int:
    """A number of cores; nothing where Spark is to say what is wrong with it."""
    return int(text) if text and text.isdecimal() else 0


def _mib(text: str | None) -> int:
    """Memory as Spark reads it, in MiB unless it says otherwise; nothing where Spark is to say what is wrong."""
    parts = re.fullmatch(r"(\d+)(?:([kmgt])b?)?", (text or "").strip().lower())
    return int(int(parts[1]) * _UNITS[parts[2] or "m"]) if parts else 0
