"""Nodes that still start: a broker that recovers its logs has a process, answers nobody, and is not to be stopped."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from kcluster.errors import UnreachableError
from kcluster.model.node import Node
from kcluster.model.reason import Reason
from kcluster.model.running import ProcessState, Running

_HANGS = 30.0
"""Seconds without progress after which a node that starts counts as hanging, and may be stopped."""


class StartingError(UnreachableError):
    """A node does not answer because its process still starts."""

    def __init__(self, running: Running, node: Node) -> None:
        recovery = running.recoveries.get(node.name)
        self.done = f": {recovery.text}" if recovery and recovery.text else ""
        self.progress = recovery.mark if recovery else ""
        super().__init__(f"it is starting{self.done}")


def starts(running: Running, node: Node) -> bool:
    """Whether the node was last seen with a process that does not listen yet."""
    return running.process(node) is ProcessState.STARTING


class StartWatch:
    """Remembers since when each node that starts has made no progress."""

    def __init__(self) -> None:
        self._marks: dict[str, tuple[str, float]] = {}

    def reasons(self, running: Running, nodes: Iterable[Node]) -> Iterator[Reason]:
        """Why these nodes may not stop: they start, and get on."""
        now = time.monotonic()
        for node in nodes:
            if not starts(running, node):
                continue
            problem = StartingError(running, node)
            mark, since = self._marks.get(node.name, ("", now))
            since = since if mark == problem.progress else now
            self._marks[node.name] = problem.progress, since
            if now - since < _HANGS:
                yield Reason(f"{node.name} is starting{problem.done}", progress=problem.progress)
