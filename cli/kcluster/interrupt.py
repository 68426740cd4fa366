"""Ctrl-C as an exception that is never lost; for some work as a flag, so that it ends between two steps."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_IMPORTS = "<frozen importlib._bootstrap>"
_AGAIN_IN = 0.01
"""Seconds until an interrupt that would have been lost is tried again."""


@contextmanager
def raised(*more: signal.Signals) -> Iterator[None]:
    """Let Ctrl-C, and more signals, raise KeyboardInterrupt in a block of the main thread, unless they are ignored."""
    numbers = {signal.SIGINT, *more} if threading.current_thread() is threading.main_thread() else set()
    before = {number: signal.signal(number, raise_it) for number in numbers if not _ignored(number)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def raise_it(number: int, frame: FrameType | None) -> None:
    """A signal handler: raise KeyboardInterrupt, where it would be lost a moment later."""
    if not _is_lost_in(frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, _again)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_IN)


def uninterrupted(call: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Call a function of C that loses exceptions of the Python code that it runs, such as callbacks of librdkafka."""
    return call(*arguments, **named)


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
            raise_it(number, frame)
        self.seen = True


def _ignored(number: signal.Signals) -> bool:
    """Whether this process was started to ignore a signal, as with `nohup` or in the background of a script."""
    return signal.getsignal(number) is signal.SIG_IGN


def _again(_: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does by now: the block in which it came may be over."""
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else raise_it)(signal.SIGINT, frame)


def _is_lost_in(frame: FrameType | None) -> bool:
    """Whether an exception raised here is lost: in a finalizer, in what `uninterrupted` runs, in Python's imports."""
    innermost = frame
    while frame:
        if frame.f_code.co_name == "__del__" or (frame.f_code is uninterrupted.__code__ and frame is not innermost):
            return True
        frame = frame.f_back
    return bool(innermost and innermost.f_code.co_filename == _IMPORTS)
