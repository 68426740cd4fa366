"""`job validate`: all findings in a job file, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcluster.jobs import client_security
from kcluster.jobs.job_file import settings
from kcluster.results import Block, Cell, Result, Tone


@dataclass(frozen=True)
class ValidJobFile(Result):
    """A valid job file and its settings."""

    file: Path
    settings: Mapping[str, Any]

    def data(self) -> Any:
        """The settings with every default, without secrets."""
        return {"file": str(self.file), "valid": True, "settings": client_security.without_secrets(self.settings)}

    def view(self) -> Iterable[Block]:
        """One sentence."""
        settings = self.settings
        topics = ", ".join(settings["topics"])
        yield Cell(f"{self.file} is valid: job {settings['job']}, name {settings['name']}, topics {topics}", Tone.GOOD)


def validate(file: Path) -> ValidJobFile:
    """Check a job file; UsageError lists all findings."""
    return ValidJobFile(file, settings(file))
