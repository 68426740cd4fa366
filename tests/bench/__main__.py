"""`./run bench`: every measure beside its yardstick, both taken in this one run, as a table of ratios.

A bench_*.py module has `run()`, which gives rows of (what, ours, yardstick, allowed ratio); the two have the same unit.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

Row = tuple[str, float, float, float]

ON_HOSTS = {"bench_provision", "bench_hosts", "bench_roll", "bench_at_once", "bench_power_cut", "bench_stages"}


def main(words: list[str]) -> int:
    """Measure all, or the modules whose names contain one of the words; 1 when a ratio is over its limit."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    chosen = [name for name in names if not words or any(word in name for word in words)]
    if os.geteuid() and ON_HOSTS & set(chosen):
        print("error: provision, hosts and roll are measured on hosts of the lab, which need root", file=sys.stderr)
        print("  try: sudo ./run bench, or name others: ./run bench up topic", file=sys.stderr)
        return 2
    over = 0
    for name in chosen:
        print(f"measuring {name.removeprefix('bench_')} ...", file=sys.stderr, flush=True)
        rows: list[Row] = import_module(f"tests.bench.{name}").run()
        width = max(len(what) for what, *_ in rows)
        print(f"{'MEASURE':{width}}  {'OURS':>9}  {'YARDSTICK':>9}  {'RATIO':>6}  {'LIMIT':>6}")
        for what, ours, yardstick, limit in rows:
            missed = ours / yardstick > limit
            over += missed
            ratio = f"{ours / yardstick:6.2f}  {limit:6.2f}{'  over' if missed else ''}"
            print(f"{what:{width}}  {ours:9.3f}  {yardstick:9.3f}  {ratio}", flush=True)
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
