"""How the benches take time: whole processes, the median of several runs, the two sides in turn."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence


def seconds(command: Sequence[str], *, env: Mapping[str, str] | None = None, stdin: str = os.devnull) -> float:
    """How long a whole process takes; it must succeed."""
    with open(stdin, "rb") as source:
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        return time.perf_counter() - begin


def in_turn(ours: Callable[[], float], yardstick: Callable[[], float], runs: int) -> tuple[float, float]:
    """The medians of both sides, taken alternately so that both meet the same machine; one warm-up each."""
    ours()
    yardstick()
    pairs = [(ours(), yardstick()) for _ in range(runs)]
    return statistics.median(one for one, _ in pairs), statistics.median(other for _, other in pairs)
