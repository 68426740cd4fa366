"""Records written without a pause while something happens to a cluster, and what became of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.hosts.fleet import Fleet


@dataclass
class Load:
    """What became of the records; filled in when the block has ended."""

    acknowledged: int = 0
    lost: tuple[int, ...] = ()
    """Acknowledged, and not there any more."""
    gap: float = 0.0
    """The longest time in seconds without an acknowledgement."""


@contextmanager
def under_load(fleet: Fleet, bootstrap: str, topic: str) -> Iterator[Load]:
    """Write 200 records a second into a new topic while the block runs, then read all of them back."""
    fleet.run("topic", "create", topic, "-p", "6", "-r", "3", "-c", "min.insync.replicas=2", "-b", bootstrap)
    told = Load()
    with subprocess.Popen(
        _program(fleet, "produce", bootstrap, topic), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        yield told
        sent = json.loads(program.communicate(timeout=90)[0])
    read = subprocess.run(
        _program(fleet, "consume", bootstrap, topic), capture_output=True, text=True, check=True, timeout=90
    )
    told.acknowledged, told.gap = len(sent["acknowledged"]), sent["gap"]
    told.lost = tuple(sorted(set(sent["acknowledged"]) - set(json.loads(read.stdout))))


def _program(fleet: Fleet, *words: str) -> list[str]:
    inside = ["ip", "netns", "exec", fleet.lab.network.namespace]
    return [*inside, sys.executable, str(Path(__file__).with_name("load.py")), *words]
