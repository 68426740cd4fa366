"""The state of a Spark master and its workers, from its web page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.request import ProxyHandler, build_opener

from kcluster.errors import UnreachableError

_WITHIN = 4.0


@dataclass(frozen=True)
class WorkerResources:
    """Total and free resources of a live worker."""

    cores: int
    free_cores: int
    memory: int
    """MiB, like free_memory."""
    free_memory: int


@dataclass(frozen=True)
class MasterState:
    """The state of a master; only the leader knows workers."""

    status: str
    """"ALIVE" when it leads, "STANDBY" when another does, "RECOVERING" in between."""
    workers: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """State by address and port of each worker; a worker that registered again is ALIVE."""
    resources: Sequence[WorkerResources] = ()
    """The resources of each worker that is ALIVE."""
    cores: Mapping[str, int] = field(default_factory=dict)
    """The cores of each running job by name."""

    @property
    def leads(self) -> bool:
        """Whether it is the leader."""
        return self.status == "ALIVE"


def master_state(host: str, web_port: int) -> MasterState:
    """The state of the master at this address; UnreachableError when it does not answer within 4 s."""
    try:
        # Never through a proxy: masters are in the same network as the brokers.
        with build_opener(ProxyHandler({})).open(f"http://{host}:{web_port}/json/", timeout=_WITHIN) as answer:
            answer = json.load(answer)
        workers: dict[tuple[str, int], str] = {}
        for one in answer["workers"]:
            if workers.get(at := (one["host"], one["port"])) != "ALIVE":
                workers[at] = one["state"]
        resources = [_resources(one) for one in answer["workers"] if one["state"] == "ALIVE"]
        return MasterState(
            answer["status"], workers, resources, {one["name"]: one["cores"] for one in answer["activeapps"]}
        )
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as problem:
        raise UnreachableError(f"no Spark master answers at {host}:{web_port}: {problem}") from problem


def _resources(answer: Mapping[str, Any]) -> WorkerResources:
    return WorkerResources(answer["cores"], answer["coresfree"], answer["memory"], answer["memoryfree"])
