"""Records written without a pause while something happens to a cluster, and what became of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.children import child
from tests.hosts.fleet import Fleet

LONGEST_GAP = 30.0
"""Seconds without an acknowledgement: one or two on an idle machine, more on a busy one, 60 when all has stopped."""


@dataclass
class Load:
    """What became of the records; filled in when the block has ended."""

    bootstrap: str
    """Where all of it is read back at the end; a test may move the cluster meanwhile."""
    sent: int = 0
    """How many were written."""
    numbers: frozenset[int] = frozenset()
    """What was acknowledged."""
    lost: tuple[int, ...] = ()
    """Acknowledged, and not there any more."""
    gap: float = 0.0
    """The longest time in seconds without an acknowledgement, the time after the last one included."""
    slowest: float = 0.0
    """The same of the partition that waited longest."""

    @property
    def acknowledged(self) -> int:
        """How many were acknowledged."""
        return len(self.numbers)

    def assert_served(self, at_least: int = 500, longest_gap: float = LONGEST_GAP) -> None:
        """The cluster took every record, never let one wait for long, and has them all."""
        assert self.sent >= at_least, f"{self.sent} records in all prove nothing"
        assert self.acknowledged == self.sent, f"{self.sent - self.acknowledged} of {self.sent} were not acknowledged"
        assert self.gap < longest_gap, f"nothing was acknowledged for {self.gap} s"
        assert self.lost == (), f"{len(self.lost)} acknowledged records are gone: {self.lost[:10]}"


@contextmanager
def under_load(
    fleet: Fleet, bootstrap: str, topic: str, *settings: str, per_second: int = 200, partitions: int = 6
) -> Iterator[Load]:
    """Write so many records a second into a new topic while the block runs, then read all of them back.

    The producer has librdkafka's own defaults, but for `settings`: `"socket.timeout.ms=6000"`.
    """
    fleet.run(
        "topic", "create", topic, "-p", str(partitions), "-r", "3", "-c", "min.insync.replicas=2", "-b", bootstrap
    )
    told = Load(bootstrap)
    with child(
        _program(fleet, "produce", bootstrap, topic, str(per_second), *settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        yield told
        said = json.loads(program.communicate(timeout=90)[0])
    told.sent, told.numbers = said["sent"], frozenset(said["acknowledged"])
    told.gap, told.slowest = said["gap"], said["slowest"]
    told.lost = tuple(sorted(told.numbers - read_back(fleet, told.bootstrap, topic)))


def read_back(fleet: Fleet, bootstrap: str, topic: str) -> set[int]:
    """Every number that is in a topic."""
    command = _program(fleet, "consume", bootstrap, topic)
    told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=240).stdout)
    assert told["unread"] == {}, f"{topic}: records that brokers tell of and do not give: {told['unread']}"
    return set(told["numbers"])


def _program(fleet: Fleet, *words: str) -> list[str]:
    inside = ["ip", "netns", "exec", fleet.lab.network.namespace]
    return [*inside, sys.executable, str(Path(__file__).with_name("load.py")), *words]
