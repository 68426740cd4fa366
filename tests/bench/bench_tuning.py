"""What each setting of `ingest` brings: five million records, with it put back to the default of Spark or Kafka."""

from __future__ import annotations

import json
from typing import Any

from tests.bench.bench_ingest import RECORDS, Bench, bench

FETCHES = {
    "fetch.min.bytes": "1",
    "fetch.max.wait.ms": "500",
    "max.partition.fetch.bytes": "1048576",
    "receive.buffer.bytes": "65536",
    "max.poll.records": "500",
}
G1 = {"spark.driver.extraJavaOptions": "-XX:+UseG1GC"}
ADAPTIVE = {"spark.sql.adaptive.enabled": "true"}
PARTITIONS = 10
"""Of the topic: without coalesce each would be a file of its own in each batch."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "fetch sizes": {"kafka": FETCHES},
    "collector": {"spark": G1},
    "adaptive plans": {"spark": ADAPTIVE},
    "files": {"sink": {"files_per_batch": PARTITIONS}},
    "compression": {"sink": {"compression": "snappy"}},
    "for all of these": {
        "kafka": FETCHES,
        "spark": {**G1, **ADAPTIVE},
        "sink": {"files_per_batch": PARTITIONS, "compression": "snappy"},
    },
}
"""What the job's file would have to say."""


def run() -> list[tuple[str, float, float, float]]:
    """A row for each setting, and one for all; each beside a run of its own with ours."""
    with bench() as made:
        made.fill("many", RECORDS)
        made.ours("many")
        return [_row(made, what, file) for what, file in DEFAULTS.items()]


def _row(made: Bench, what: str, file: dict[str, Any]) -> tuple[str, float, float, float]:
    ours, _ = made.ours("many")
    theirs, _ = made.ours("many", "\n".join(f"{key}: {json.dumps(value)}" for key, value in file.items()))
    return f"ingest 5M, as it is / default {what} (s)", ours, theirs, 1.15
