"""The phases of a run: timed, shown and written into the journal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kcluster.journal import Journal
from kcluster.results import StepState, Watch

_READ_ONLY = ("", "check", "plan")
"""Phases that change nothing."""


class Phases:
    """The phases and steps of a run, for the progress display and the journal at the same time."""

    def __init__(self, watch: Watch, journal: Journal) -> None:
        self.seconds: dict[str, float] = {}
        self._watch = watch
        self._journal = journal
        self._current = ""
        self._title = "the start"

    @property
    def outcome(self) -> str:
        """What has been changed when something is refused: all before it, if a phase has begun that changes things."""
        return "the stages before this one are done" if self._changed else "nothing was changed"

    @property
    def _changed(self) -> bool:
        return bool({self._current, *self.seconds} - {*_READ_ONLY})

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """On Ctrl-C inside the block, say in which phase it came and what was changed; raises it again."""
        try:
            yield
        except KeyboardInterrupt:
            left = "changes so far stay and started nodes run on; run it again to finish"
            self.say(f"interrupted in: {self._title}; {left if self._changed else self.outcome}")
            raise

    @contextmanager
    def phase(self, name: str, title: str) -> Iterator[None]:
        """The block is this phase: its steps belong to it, and its time is measured."""
        self._current, self._title, started = name, title, time.monotonic()
        self._watch.phase(title)
        self._journal.note("phase", phase=name, what=title)
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - started, 2)

    def step(self, host: str, what: str, state: StepState, **more: Any) -> None:
        """A step of one host; that it has started is shown and not journalled."""
        self._watch.step(host, what, state)
        if state is not StepState.STARTED:
            self._journal.note("step", phase=self._current, host=host, what=what, status=str(state), **more)

    def say(self, text: str) -> None:
        """A line for people, which is journalled as well."""
        self._watch.say(text)
        self._journal.note("said", phase=self._current, what=text)

    def note(self, event: str, **facts: Any) -> None:
        """A line only for the journal."""
        self._journal.note(event, **facts)
