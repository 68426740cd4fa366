"""What a run leaves running when it is killed: the next one ends it, by the ids and start times that are recorded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kcluster import paths
from tests.lab.machine import write
from tests.lab.process import Process


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """Note for a block below which folder this process has its clusters and jobs; if it is killed, the note stays."""
    me = Process.of(os.getpid())
    note = _notes() / f"{me.pid}-{me.start}"
    note.parent.mkdir(parents=True, exist_ok=True)
    write(note, str(folder))
    try:
        yield
    finally:
        note.unlink()


def reap() -> None:
    """End the nodes and jobs of runs that are gone."""
    for note in _notes().glob("[0-9]*-*[0-9]"):
        if not Process(*map(int, note.name.split("-"))).alive:
            for record in Path(note.read_text()).rglob("record.json"):
                for process in _recorded(record):
                    process.kill()
            note.unlink(missing_ok=True)  # another worker may do the same


def _notes() -> Path:
    return paths.cache() / "test-runs"


def _recorded(record: Path) -> Iterator[Process]:
    """The processes that the record of a local cluster, or of a job, names."""
    facts = json.loads(record.read_text())
    for entry in (*facts.get("started", {}).values(), facts):
        if process := entry.get("process"):
            yield Process(process["pid"], process["started"])
