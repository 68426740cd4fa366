"""What a Spark master says of itself and of its workers on its web page."""

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
class Room:
    """What a worker that lives has for executors, and what of it nobody uses."""

    cores: int
    free_cores: int
    memory: int
    """MiB, as is what is free of it."""
    free_memory: int


@dataclass(frozen=True)
class MasterState:
    """A master, and the workers that it knows when it leads."""

    status: str
    """"ALIVE" when it leads, "STANDBY" when another does, "RECOVERING" in between."""
    workers: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """The state of each worker, by its address and port; one that came back is there twice, and then it is ALIVE."""
    rooms: Sequence[Room] = ()
    """What each worker has that is ALIVE."""
    cores: Mapping[str, int] = field(default_factory=dict)
    """How many cores each job has now, by its name."""

    @property
    def leads(self) -> bool:
        """Whether it shares out the work."""
        return self.status == "ALIVE"


def state(host: str, web_port: int) -> MasterState:
    """What the master at this address says."""
    try:
        # Never through a proxy: the masters are as near as the brokers are.
        with build_opener(ProxyHandler({})).open(f"http://{host}:{web_port}/json/", timeout=_WITHIN) as answer:
            told = json.load(answer)
        workers: dict[tuple[str, int], str] = {}
        for one in told["workers"]:
            if workers.get(at := (one["host"], one["port"])) != "ALIVE":
                workers[at] = one["state"]
        rooms = [_room(one) for one in told["workers"] if one["state"] == "ALIVE"]
        return MasterState(told["status"], workers, rooms, {one["name"]: one["cores"] for one in told["activeapps"]})
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as problem:
        raise UnreachableError(f"no Spark master answers at {host}:{web_port}: {problem}") from problem


def _room(told: Mapping[str, Any]) -> Room:
    return Room(told["cores"], told["coresfree"], told["memory"], told["memoryfree"])
