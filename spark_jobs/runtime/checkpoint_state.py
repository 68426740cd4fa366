"""What a job remembers from step to step: numbered files in the checkpoint; the newest one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

KEPT = 3
"""How many steps are kept."""


class CheckpointState:
    """The newest step, and the way to the next one."""

    def __init__(self, checkpoint: Folder, place: str) -> None:
        self._checkpoint = checkpoint
        self._place = place
        names = [name for name in checkpoint.files(place) if name.endswith(".json")]
        self.newest: dict[str, Any] = checkpoint.load(names[-1]) if names else {"step": -1, "log": uuid4().hex}
        """What the newest step wrote down; `step` is its number, `log` the same for all steps of this checkpoint."""
        self.told: int = (checkpoint.load(self._note) or {"step": -1})["step"]
        """The newest step of which is known that it was told."""

    def write(self, **facts: Any) -> None:
        """Write down the next step; from here on it has happened, also for a run after this one."""
        number = self.newest["step"] + 1
        self.newest = {"step": number, "log": self.newest["log"], **facts}
        self._checkpoint.save(self._file(number), self.newest)
        self._checkpoint.remove(self._file(number - KEPT))

    def tell(self) -> None:
        """Write down that what the newest step had to say was said."""
        self.told = self.newest["step"]
        self._checkpoint.save(self._note, {"step": self.told})

    @property
    def _note(self) -> str:
        return f"{self._place}/told"

    def _file(self, number: int) -> str:
        return f"{self._place}/{number:012d}.json"
