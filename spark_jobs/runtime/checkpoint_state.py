"""A job's own state in the checkpoint: numbered files, one for each step, of which the newest counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

KEPT_STEPS = 3
"""How many steps are kept."""


class CheckpointState:
    """The state after the newest step, and whether its output was published."""

    def __init__(self, checkpoint: Folder, folder: str) -> None:
        self._checkpoint = checkpoint
        self._folder = folder
        names = [name for name in checkpoint.files(folder) if name.endswith(".json")]
        self.latest: dict[str, Any] = checkpoint.load(names[-1]) if names else {"step": -1, "log": uuid4().hex}
        """The content of the newest step; `step` is its number, `log` an id that all steps of this checkpoint share."""
        self.published: int = (checkpoint.load(self._published_file) or {"step": -1})["step"]
        """The newest step whose output is known to be published; -1 for none."""

    def commit(self, **facts: Any) -> None:
        """Write the next step; once this returns, a later run continues after it."""
        number = self.latest["step"] + 1
        self.latest = {"step": number, "log": self.latest["log"], **facts}
        self._checkpoint.save(self._file(number), self.latest)
        self._checkpoint.remove(self._file(number - KEPT_STEPS))

    def mark_published(self) -> None:
        """Record that the output of the newest step is published."""
        self.published = self.latest["step"]
        self._checkpoint.save(self._published_file, {"step": self.published})

    @property
    def _published_file(self) -> str:
        return f"{self._folder}/told"

    def _file(self, number: int) -> str:
        return f"{self._folder}/{number:012d}.json"
