"""`job validate`: everything that is wrong with a job's file, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcluster.jobs import client_security
from kcluster.jobs.job_file import settings
from kcluster.results import Block, Cell, Result, Tone


@dataclass(frozen=True)
class Valid(Result):
    """A file a job can run with, and what it means."""

    file: Path
    settings: Mapping[str, Any]

    def data(self) -> Any:
        """The settings with every default, and without passwords."""
        return {"file": str(self.file), "valid": True, "settings": client_security.shown(self.settings)}

    def view(self) -> Iterable[Block]:
        """One sentence."""
        told = self.settings
        topics = ", ".join(told["topics"])
        yield Cell(f"{self.file} is valid: the job {told['job']}, named {told['name']}, topics {topics}", Tone.GOOD)


def validate(file: Path) -> Valid:
    """Check a job's file; what is wrong with it is one error that tells everything."""
    return Valid(file, settings(file))
