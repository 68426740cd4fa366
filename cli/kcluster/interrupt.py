"""Ctrl-C as a flag, so that work ends between two steps and never in the middle of one."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """While it is entered, Ctrl-C only sets `seen`; a second one interrupts at once."""

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> Interrupt:
        """Take over Ctrl-C and `kill`."""
        self._awake, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._before = [signal.signal(number, self._note) for number in _SIGNALS]
        self._before_wake = signal.set_wakeup_fd(self._wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give them back."""
        signal.set_wakeup_fd(self._before_wake)
        for number, handler in zip(_SIGNALS, self._before, strict=True):
            signal.signal(number, handler)
        os.close(self._awake)
        os.close(self._wake)

    def readable(self, source: int, timeout: float) -> bool:
        """Wait until the source has something to read; not longer than `timeout`, and not after Ctrl-C."""
        # The wake-up pipe closes the gap between looking at `seen` and waiting.
        return source in select.select([source, self._awake], [], [], timeout)[0] and not self.seen

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
