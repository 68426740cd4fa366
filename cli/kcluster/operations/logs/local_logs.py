"""The logs of nodes on this machine: their last lines, and those that are still to come."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import IO

from kcluster import local
from kcluster.local.node_log import console, main_log, size, tail
from kcluster.model.node import Node
from kcluster.operations.logs.log_lines import LogLine, LogLines
from kcluster.rollout.node_selection import select_nodes

_POLL = 0.1


def logs(name: str, node: str | None, lines: int, *, follow: bool) -> LogLines:
    """The last lines of one node, of the nodes of one host, or of all nodes interleaved by time."""
    nodes = select_nodes(local.record(name).cluster, [node] if node else [])
    # What follows begins exactly where the last lines end, so that no line is lost or told twice in between.
    ends = {each.name: size(main_log(each)) for each in nodes}
    found = [
        LogLine(each.name, text) for each in nodes for text in tail(_file(each), lines, until=ends[each.name] or None)
    ]
    return LogLines.of(nodes, found, lines, (lambda: _coming(nodes, ends)) if follow else None)


def _file(node: Node) -> Path:
    """The node's log, or what the JVM said when it did not come as far as that."""
    return main_log(node) if main_log(node).is_file() else console(node)


def _coming(nodes: Sequence[Node], ends: Mapping[str, int]) -> Iterator[LogLine]:
    """Whatever the nodes write after these sizes of their logs."""
    with ExitStack() as open_files:
        followed = [open_files.enter_context(closing(FollowedLog(node, ends[node.name]))) for node in nodes]
        while True:
            new = [line for each in followed for line in each.new()]
            yield from new
            if not new:
                time.sleep(_POLL)


class FollowedLog:
    """A log that is read to its end again and again, also when it is rolled over or not there yet."""

    def __init__(self, node: Node, start: int) -> None:
        self._node = node
        self._path = main_log(node)
        self._file: IO[str] | None = None
        self._begun = ""
        self._reopen()
        if self._file:
            self._file.seek(min(start, size(self._path)))

    def new(self) -> Iterator[LogLine]:
        """The complete lines that were written since the last time."""
        if self._file is None or self._rolled(self._file):
            self._reopen()
        while self._file and (text := self._file.readline()):
            self._begun += text
            if text.endswith("\n"):
                yield LogLine(self._node.name, self._begun.rstrip("\n"))
                self._begun = ""

    def close(self) -> None:
        """Let the file go."""
        if self._file:
            self._file.close()

    def _reopen(self) -> None:
        self.close()
        self._file = None
        with suppress(FileNotFoundError):
            self._file = self._path.open(errors="replace")

    def _rolled(self, file: IO[str]) -> bool:
        """Whether another file has the name now, and the old one is read to its end."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        here = os.fstat(file.fileno())  # looked at last: what came until the roll counts
        return now.st_ino != here.st_ino and file.tell() >= here.st_size
