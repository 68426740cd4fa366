"""Programs that tests start: with the signals of a terminal, and none that outlives its test."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def take_signals() -> None:
    """Let programs started from here end at Ctrl-C and hang-ups, also where this process was started to ignore them.

    An ignored signal is inherited (from `nohup`, a shell's background job, some CI runners), a handled one is not.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@contextmanager
def child(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program; the end of the block waits for it, and a failure in the block kills it."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise
