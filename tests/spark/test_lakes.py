"""Delta and Iceberg hold each record once as Parquet does: what they tell, refuse, and survive."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.conftest import Live
from tests.spark.conftest import Job, until
from tests.spark.feeding import Feed
from tests.spark.proof import balances, holds, reached, topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGS = {"delta": "_delta_log/*.json", "iceberg": "metadata/v*.metadata.json"}
"""What a commit adds to a table of the format."""


def new(folder: Path, pattern: str) -> Callable[[], set[Path]]:
    """Tells what is there that is not there now."""
    before = set(folder.glob(pattern))
    return lambda: {*folder.glob(pattern)} - before


@pytest.mark.parametrize("format", LOGS)
def test_a_driver_killed_around_its_commits_writes_each_record_once(
    live: Live, ingest: Callable[..., Job], spark: SparkSession, format: str
) -> None:
    name = topic(live, f"killed-{format}")
    job = ingest(live.bootstrap, name, sink={"format": format}, batch={"max_records": 400})
    with Feed(live.bootstrap, name, rate=20) as feed:
        feed.send(1000)
        for pattern in (LOGS[format], LOGS[format], "_kcluster/batches/*.json", "_kcluster/staged/*-dead"):
            moment, running = new(job.table, pattern), job.start()
            until(partial(reached, moment, running), pattern)
            assert running.poll() is None, job.state()
            job.kill()
    job.settings["batch"] = {"max_records": 100_000}
    assert job.once()["state"] == "finished", job.state()
    told = balances(job)
    assert sum(each["read"] for each in told["partitions"]) == feed.good + feed.poisonous
    holds(spark, live, job, name, feed)
