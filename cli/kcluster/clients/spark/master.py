"""What a Spark master says of itself and of its workers on its web page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from urllib.request import ProxyHandler, build_opener

from kcluster.errors import UnreachableError

_WITHIN = 2.0


@dataclass(frozen=True)
class MasterState:
    """A master, and the workers that it knows when it leads."""

    status: str
    """"ALIVE" when it leads, "STANDBY" when another does, "RECOVERING" in between."""
    workers: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """The state of each worker, by its address and port; one that came back is there twice, and then it is ALIVE."""

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
        return MasterState(told["status"], workers)
    except (OSError, HTTPException, ValueError, KeyError) as problem:
        raise UnreachableError(f"no Spark master answers at {host}:{web_port}: {problem}") from problem
