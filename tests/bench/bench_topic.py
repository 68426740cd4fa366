"""`kcluster topic list` on a live cluster, named by an inventory, beside the JVM tool `kafka-topics.sh --list`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from tests.bench.timing import in_turn, seconds

KCLUSTER = str(Path(sys.executable).with_name("kcluster"))
TOPICS = 20
RUNS = 9
NAME = "bench-topic"


def run() -> list[tuple[str, float, float, float]]:
    """One row; the inventory is read from its cache, as on every call but the first."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "KCLUSTER_HOME": f"{folder}/home"}
        inventory = f"{folder}/{NAME}"
        seconds([KCLUSTER, "init", inventory], env=env)
        try:
            seconds([KCLUSTER, "up", "-i", inventory], env=env)
            return [_list(Path(folder), inventory, env)]
        finally:
            seconds([KCLUSTER, "down", "-n", NAME, "--delete-data", "--confirm", NAME], env=env)


def _list(folder: Path, inventory: str, env: dict[str, str]) -> tuple[str, float, float, float]:
    for number in range(TOPICS):
        seconds([KCLUSTER, "topic", "create", f"topic-{number}", "-p", "6", "-n", NAME], env=env)
    record = json.loads((folder / f"home/local/{NAME}/record.json").read_text())
    port = next(port for purpose, port in record["ports"].items() if purpose.endswith("internal"))
    jvm = [f"{record['release_home']}/bin/kafka-topics.sh", "--list", "--bootstrap-server", f"127.0.0.1:{port}"]
    ours, theirs = in_turn(
        lambda: seconds([KCLUSTER, "topic", "list", "-i", inventory], env=env), lambda: seconds(jvm, env=env), RUNS
    )
    return "topic list / kafka-topics.sh --list (s)", ours, theirs, 0.2
