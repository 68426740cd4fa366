"""The folder of one job: what it tells while it runs, how it ended, and whether somebody asked it to stop.

job.json         the settings it runs with, complete
clients.json     security settings of Kafka clients, readable by the owner only
progress.jsonl   a line for each batch
state.json       starting, running, finished, stopped or failed; of a failed one the cause
stop             somebody wants it to end after the batch in hand
driver.log       what Spark and the job wrote
NAME.lock        held while the job runs (alone.py)
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any


class Desk:
    """One job's folder, seen by the job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._notes: dict[str, Any] = {}

    def clients(self, language: str) -> dict[str, str]:
        """The security settings of a Kafka client: spelled as "java" or as "librdkafka" does."""
        try:
            told = json.loads((self.folder / "clients.json").read_text())
        except FileNotFoundError:
            return {}
        return dict(told[language])

    def say(self, state: str, **more: Any) -> None:
        """Write down the state; a reader sees the old one or the new one, never half of it."""
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps({"state": state, "at": time.time(), **self._notes, **more}))
        fresh.replace(self.folder / "state.json")

    def note(self, **facts: Any) -> None:
        """Remember what belongs to every state from now on, such as how much was written."""
        self._notes.update(facts)

    def progress(self, **batch: Any) -> None:
        """Add the line of a batch."""
        with (self.folder / "progress.jsonl").open("a") as file:
            file.write(json.dumps({"at": time.time(), **batch}) + "\n")

    def stop_asked(self) -> bool:
        """Whether somebody wants the job to end after the batch in hand."""
        return (self.folder / "stop").exists()
