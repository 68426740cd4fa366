"""What a job remembers from step to step: numbered files in the checkpoint; the newest one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

KEPT_STEPS = 3
"""How many steps are kept."""


class CheckpointState:
    """The newest step, and the way to the next one."""

    def __init__(self, checkpoint: Folder, folder: str) -> None:
        self._checkpoint = checkpoint
        self._folder = folder
        names = [name for name in checkpoint.files(folder) if name.endswith(".json")]
        self.latest: dict[str, Any] = checkpoint.load(names[-1]) if names else {"step": -1, "log": uuid4().hex}
        """What the newest step wrote down; `step` is its number, `log` the same for all steps of this checkpoint."""
        self.published: int = (checkpoint.load(self._published_file) or {"step": -1})["step"]
        """The newest step of which is known that it was told."""

    def commit(self, **facts: Any) -> None:
        """Write down the next step; from here on it has happened, also for a run after this one."""
        number = self.latest["step"] + 1
        self.latest = {"step": number, "log": self.latest["log"], **facts}
        self._checkpoint.save(self._file(number), self.latest)
        self._checkpoint.remove(self._file(number - KEPT_STEPS))

    def mark_published(self) -> None:
        """Write down that what the newest step had to say was said."""
        self.published = self.latest["step"]
        self._checkpoint.save(self._published_file, {"step": self.published})

    @property
    def _published_file(self) -> str:
        return f"{self._folder}/told"

    def _file(self, number: int) -> str:
        return f"{self._folder}/{number:012d}.json"
