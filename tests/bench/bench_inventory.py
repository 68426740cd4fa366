"""`validate` and `render` of a large inventory: the limit in seconds, and that growth is no more than linear."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.timing import seconds


def run() -> list[tuple[str, float, float, float]]:
    """Two rows: 300 brokers against 5 s, and ten times the brokers against ten times the time."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_validate_and_render(Path(folder), brokers) for brokers in (30, 300))
    return [
        ("validate + render, 300 brokers / 5 s", large, 5.0, 1.0),
        ("validate + render, 300 brokers / 10 x 30 brokers", large, 10 * small, 1.0),
    ]


def _validate_and_render(folder: Path, brokers: int) -> float:
    inventory = folder / f"inventory-{brokers}"
    hosts = ",".join(f"k{number}.example" for number in range(1, brokers + 1))
    kcluster = str(Path(sys.executable).with_name("kcluster"))
    subprocess.run(
        [kcluster, "init", str(inventory), "--brokers", str(brokers), "--hosts", hosts],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    env = {**os.environ, "KCLUSTER_CACHE": str(folder / f"cache-{brokers}")}
    rendered = ["render", "-i", str(inventory), "--out", str(folder / f"out-{brokers}")]
    return seconds([kcluster, "validate", "-i", str(inventory)], env=env) + seconds([kcluster, *rendered], env=env)
