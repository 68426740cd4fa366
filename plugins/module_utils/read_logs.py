"""Prints the last lines of logs on this host (`last`), or all that come after them (`follow`).

`kcluster.operations.logs` sends it.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import time
from typing import IO, Any

PAUSE = 0.1
BEAT = 2.0
"""Seconds after which an empty line is written: only a write shows that the reader is gone."""
BLOCK = 1 << 16
JOURNAL = ["journalctl", "--no-pager", "--quiet", "--utc", "--output=short-iso"]


def last(question: dict[str, Any]) -> None:
    """Print the last lines of each node as one line of JSON, and where they end."""
    print(
        json.dumps({node["name"]: of_node(node, question["lines"], question["journal"]) for node in question["nodes"]})
    )


def of_node(node: dict[str, Any], lines: int, journal: bool) -> dict[str, Any]:
    """The last lines of a node's log; of the journal when it is asked for, or when there is no log yet."""
    if journal:
        return of_journal(node["unit"], lines)
    try:
        with open(node["path"], "rb") as file:
            facts = os.fstat(file.fileno())
            return {"lines": tail(file, lines, facts.st_size), "inode": facts.st_ino, "offset": facts.st_size}
    except FileNotFoundError:
        return {"lines": of_journal(node["unit"], lines)["lines"], "inode": 0, "offset": 0}


def tail(file: IO[bytes], lines: int, end: int) -> list[str]:
    """The last lines of an open file before a place."""
    position, found = end, b""
    while position > 0 and found.count(b"\n") <= lines:
        step = min(BLOCK, position)
        position = file.seek(position - step)
        found = file.read(step) + found
    return found.decode(errors="replace").splitlines()[-lines:] if lines else []


def of_journal(unit: str, lines: int) -> dict[str, Any]:
    """The last lines that systemd has of a unit, and where they end."""
    command = [*JOURNAL, "--unit", unit, "--lines", str(max(1, lines)), "--show-cursor"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    output = done.stdout.decode(errors="replace").splitlines()
    cursor = next((line.partition(": ")[2] for line in output if line.startswith("-- cursor: ")), "")
    text = [line for line in output if not line.startswith("-- ")]
    return {"lines": text[-lines:] if lines else [], "cursor": cursor}


def follow(question: dict[str, Any]) -> None:
    """Print each new line as a pair of node and text, until the reader is gone."""
    sources = [SystemdJournal(node) if question["journal"] else FollowedFile(node) for node in question["nodes"]]
    quiet_since = time.monotonic()
    try:
        while True:
            new = [json.dumps([source.name, line]) for source in sources for line in source.new()]
            if new or time.monotonic() - quiet_since > BEAT:
                sys.stdout.write("".join(line + "\n" for line in new or [""]))
                sys.stdout.flush()
                quiet_since = time.monotonic()
            if not new:
                time.sleep(PAUSE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python would complain at exit about the closed stdout
    finally:
        for source in sources:
            source.close()


class Whole:
    """Bytes put together to whole lines."""

    def __init__(self) -> None:
        self.begun = b""

    def lines(self, data: bytes) -> list[str]:
        """The lines that are complete now."""
        *whole, self.begun = (self.begun + data).split(b"\n")
        return [line.decode(errors="replace") for line in whole]


class FollowedFile:
    """A log that is read to its end again and again, also when it is rolled over or not there yet."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.name = node["name"]
        self.path = node["path"]
        self.whole = Whole()
        self.file: IO[bytes] | None = None
        if node["inode"]:
            self.go_on(node["inode"], node["offset"])

    def go_on(self, inode: int, offset: int) -> None:
        """Open the very file that was read before: it may have another name by now."""
        for path in [self.path, *glob.glob(glob.escape(self.path) + "*")]:
            try:
                file = open(path, "rb")  # noqa: SIM115  (stays open)
            except FileNotFoundError:
                continue
            if os.fstat(file.fileno()).st_ino == inode:
                self.file = file
                file.seek(offset)
                return
            file.close()

    def new(self) -> list[str]:
        """The lines that were written since the last time."""
        data = self.file.read() if self.file else b""
        if not data and self.moved():
            data = self.file.read() if self.file else b""  # what came after the look before, and before the roll
            self.close()
            try:
                self.file = open(self.path, "rb")  # noqa: SIM115  (stays open)
                data += self.file.read()
            except FileNotFoundError:
                pass
        return self.whole.lines(data)

    def moved(self) -> bool:
        """Whether another file has the name now, or the file begins again."""
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            return False
        if self.file is None:
            return True
        return now.st_ino != os.fstat(self.file.fileno()).st_ino or now.st_size < self.file.tell()

    def close(self) -> None:
        """Close the file."""
        if self.file:
            self.file.close()
        self.file = None


class SystemdJournal:
    """The lines that systemd gets of a unit from now on."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.name = node["name"]
        self.whole = Whole()
        after = ["--after-cursor", node["cursor"]] if node["cursor"] else []
        command = [*JOURNAL, "--unit", node["unit"], "--follow", "--no-tail", *after]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout
        self.stream = self.process.stdout.fileno()
        os.set_blocking(self.stream, False)

    def new(self) -> list[str]:
        """The lines that came since the last time."""
        try:
            return self.whole.lines(os.read(self.stream, BLOCK))
        except BlockingIOError:
            return []

    def close(self) -> None:
        """End journalctl."""
        self.process.kill()
        self.process.wait()
