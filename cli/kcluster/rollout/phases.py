"""The phases of a run: timed, shown and written into the journal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kcluster.journal import Journal
from kcluster.results import StepState, Watch

_LOOKING = ("", "check", "plan")
"""Phases that change nothing."""


class Phases:
    """Tells the watcher and the journal the same story."""

    def __init__(self, watch: Watch, journal: Journal) -> None:
        self.seconds: dict[str, float] = {}
        self._watch = watch
        self._journal = journal
        self._present = ""
        self._title = "the start"

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Tell on Ctrl-C in which phase it came, and how the hosts are left."""
        try:
            yield
        except KeyboardInterrupt:
            left = "what was done stays, and what was started runs on; run it again to finish"
            self.say(f"interrupted in: {self._title}; {'nothing was changed' if self._present in _LOOKING else left}")
            raise

    @contextmanager
    def phase(self, name: str, title: str) -> Iterator[None]:
        """Whatever happens inside is this phase."""
        self._present, self._title, started = name, title, time.monotonic()
        self._watch.phase(title)
        self._journal.note("phase", phase=name, what=title)
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - started, 2)

    def step(self, host: str, what: str, state: StepState, **more: Any) -> None:
        """A step of one host; its beginning is only shown."""
        self._watch.step(host, what, state)
        if state is not StepState.STARTED:
            self._journal.note("step", phase=self._present, host=host, what=what, status=str(state), **more)

    def say(self, text: str) -> None:
        """A line for people, which the journal keeps as well."""
        self._watch.say(text)
        self._journal.note("said", phase=self._present, what=text)

    def note(self, event: str, **facts: Any) -> None:
        """A line only for the journal."""
        self._journal.note(event, **facts)
