"""The job directory: the interface of files between a job and whoever submitted it.

job.json         the settings it runs with, complete
owner.json       the owner to write into the checkpoint
clients.json     security settings of Kafka clients, readable by the owner only
progress.jsonl   a line for each batch; rotated to progress.jsonl.before at 16 MiB
state.json       starting, running, finished, stopped or failed; cause and advice of a failure
stop             a request to stop after the running batch; the job removes it when it has ended
driver.log       output of Spark and the job
NAME.lock        locked while the job runs (process_lock.py)
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from spark_jobs.runtime import durable

ROTATE_AT = 16 << 20
"""Bytes of progress.jsonl after which it is rotated: days of batches."""

PATIENCE = {"java": {"request.timeout.ms": "10000"}, "librdkafka": {"socket.timeout.ms": "4000"}}
"""A host without power never answers: what it was asked is asked elsewhere after so long."""


class JobDir:
    """The job's side of its job directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._facts: dict[str, Any] = {}

    def client_settings(self, language: str) -> dict[str, str]:
        """The settings of every client as "java" or "librdkafka" names them; those of security are in clients.json."""
        return {**PATIENCE[language], **self._load("clients.json").get(language, {})}

    def checkpoint_identity(self) -> dict[str, Any]:
        """The owner to write into the checkpoint; empty without kcluster."""
        return self._load("owner.json")

    def write_state(self, state: str, **more: Any) -> None:
        """Write state.json atomically, with the facts added so far."""
        content = {"state": state, "at": time.time(), **self._facts, **more}
        durable.write(self.folder / "state.json", json.dumps(content))

    def write_end(self, state: str, **more: Any) -> None:
        """Write the final state and remove the request to stop: it was for this run."""
        self.write_state(state, **more)
        # In this order: a reader that sees neither a request nor an end would take the job for running.
        (self.folder / "stop").unlink(missing_ok=True)

    def add_facts(self, **facts: Any) -> None:
        """Add facts to every state written from now on, such as the number of records."""
        self._facts.update(facts)

    def append_progress(self, **batch: Any) -> None:
        """Append the line of a batch to progress.jsonl."""
        file = self.folder / "progress.jsonl"
        if file.exists() and file.stat().st_size > ROTATE_AT:
            file.replace(self.folder / "progress.jsonl.before")
        with file.open("a") as out:
            out.write(json.dumps({"at": time.time(), **batch}) + "\n")

    def stop_requested(self) -> bool:
        """Whether the job is to stop after the running batch."""
        return (self.folder / "stop").exists()

    def _load(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self.folder / name).read_text()))
        except FileNotFoundError:
            return {}
