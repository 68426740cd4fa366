"""The folder of one job: what it tells while it runs, how it ended, and whether somebody asked it to stop.

job.json         the settings it runs with, complete
owner.json       whose the checkpoint is to be
clients.json     security settings of Kafka clients, readable by the owner only
progress.jsonl   a line for each batch; when there are very many, those of before are in progress.jsonl.before
state.json       starting, running, finished, stopped or failed; of a failed one the cause
stop             somebody wants it to end after the batch in hand; the job removes it when it has ended
driver.log       what Spark and the job wrote
NAME.lock        held while the job runs (alone.py)
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

ROTATE_AT = 16 << 20
"""Bytes of progress from which on a new file is begun: days of batches, and the one before is kept."""


class JobDir:
    """One job's folder, seen by the job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._facts: dict[str, Any] = {}

    def client_settings(self, language: str) -> dict[str, str]:
        """The security settings of a Kafka client: spelled as "java" or as "librdkafka" does."""
        return dict(self._load("clients.json").get(language, {}))

    def checkpoint_identity(self) -> dict[str, Any]:
        """Who the job is, for its checkpoint; empty when nobody told."""
        return self._load("owner.json")

    def write_state(self, state: str, **more: Any) -> None:
        """Write down the state; a reader sees the old one or the new one, never half of it."""
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps({"state": state, "at": time.time(), **self._facts, **more}))
        fresh.replace(self.folder / "state.json")

    def write_end(self, state: str, **more: Any) -> None:
        """Write down how it ended; a wish to stop was for this run, and not for one after it."""
        self.write_state(state, **more)
        # In this order: who sees neither the wish nor an end would take it for a job that runs on.
        (self.folder / "stop").unlink(missing_ok=True)

    def add_facts(self, **facts: Any) -> None:
        """Remember what belongs to every state from now on, such as how much was written."""
        self._facts.update(facts)

    def append_progress(self, **batch: Any) -> None:
        """Add the line of a batch."""
        file = self.folder / "progress.jsonl"
        if file.exists() and file.stat().st_size > ROTATE_AT:
            file.replace(self.folder / "progress.jsonl.before")
        with file.open("a") as out:
            out.write(json.dumps({"at": time.time(), **batch}) + "\n")

    def stop_requested(self) -> bool:
        """Whether somebody wants the job to end after the batch in hand."""
        return (self.folder / "stop").exists()

    def _load(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self.folder / name).read_text()))
        except FileNotFoundError:
            return {}
