"""A run while it works: finished phases stay as lines; below them, on a terminal, what each host does now."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import TracebackType
from typing import IO

from kcluster.results import StepState, Tone
from kcluster.show import Lasting, _coloured, _paint

_TONES = {
    StepState.STARTED: Tone.PLAIN,
    StepState.OK: Tone.DIM,
    StepState.CHANGED: Tone.GOOD,
    StepState.FAILED: Tone.BAD,
}
_TICK = 0.5


class ProgressBoard:
    """Shows phases and steps; without a terminal each change is a line of its own."""

    def __init__(self, out: IO[str] | None = None) -> None:
        out = out or sys.stderr
        self._out = Lasting(out)
        self._live = out.isatty()
        self._colour = _coloured(out)
        self._phase = ""
        self._since = 0.0
        self._hosts: dict[str, tuple[str, StepState]] = {}
        self._drawn = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> ProgressBoard:
        """Begin to show."""
        if self._live:
            self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the last phase; what was going on when something failed stays on the screen."""
        self._over.set()
        with self._lock:
            if kind is None:
                self._end_phase()
            else:
                self._drawn = 0

    def phase(self, title: str) -> None:
        """End the phase before, and begin this one."""
        with self._lock:
            self._end_phase()
            self._phase, self._since = title, time.monotonic()
            if self._live:
                self._draw()
            else:
                self._line(f"{title} ...")

    def step(self, host: str, text: str, state: StepState) -> None:
        """What a host does, or has done."""
        with self._lock:
            self._hosts[host] = (text, state)
            if self._live:
                self._draw()
            elif state in (StepState.CHANGED, StepState.FAILED):
                self._line(f"  {host}: {state}: {text}")

    def say(self, text: str) -> None:
        """A line that stays."""
        with self._lock:
            self._wipe()
            self._line(f"  {text}")
            if self._live:
                self._draw()

    def pause(self) -> None:
        """End the phase before a question is asked."""
        with self._lock:
            self._end_phase()

    def _end_phase(self) -> None:
        self._wipe()
        if self._phase and self._live:
            self._line(f"{_paint('done', Tone.GOOD, self._colour)}  {self._title()}")
        self._phase, self._hosts = "", {}
        self._out.flush()

    def _title(self) -> str:
        return f"{self._phase}  {_paint(f'{time.monotonic() - self._since:.1f} s', Tone.DIM, self._colour)}"

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self._lock:
                if self._phase and not self._over.is_set():
                    self._draw()

    def _draw(self) -> None:
        """The phase, and a line for each host that there is room for; those at work come first."""
        self._wipe()
        if not self._phase:
            return
        columns, rows = shutil.get_terminal_size()
        busy_first = sorted(self._hosts.items(), key=lambda item: item[1][1] is not StepState.STARTED)
        room = max(1, rows - 4)
        shown = sorted(busy_first[:room], key=lambda item: list(self._hosts).index(item[0]))
        width = max((len(host) for host, _ in shown), default=0)
        self._line(f"....  {self._title()}")
        for host, (text, state) in shown:
            space = max(10, columns - width - 9)
            cut = text if len(text) <= space else text[: space - 1] + "…"
            self._line(f"      {host.ljust(width)}  {_paint(cut, _TONES[state], self._colour)}")
        self._drawn = 1 + len(shown)
        if len(busy_first) > room:
            self._line(f"      and {len(busy_first) - room} more hosts")
            self._drawn += 1
        self._out.flush()

    def _wipe(self) -> None:
        if self._drawn:
            self._out.write(f"\033[{self._drawn}F\033[J")
            self._drawn = 0

    def _line(self, text: str) -> None:
        self._out.write(text + "\n")
        if not self._live:
            self._out.flush()
