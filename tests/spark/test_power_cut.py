"""A power cut loses no batch that a job reported, and the next run goes on with what the disk has."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.conftest import Live
from tests.lab.disk import SmallDisk
from tests.spark.conftest import Job, cut_power, until
from tests.spark.feeding import Feed
from tests.spark.verification import assert_audit_passes, assert_each_record_once, create_topics, reached

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def moments(job: Job) -> dict[str, Callable[[], object]]:
    """Moments of a run that has not begun: Spark's newest file, of `commits` or `offsets`, is not synced then."""
    reported, planned = len(job.progress()), {*job.checkpoint.glob("offsets/[0-9]*")}
    return {
        "a batch is reported": lambda: len(job.progress()) > reported,
        "a batch is planned": lambda: {*job.checkpoint.glob("offsets/[0-9]*")} - planned,
    }


def test_no_reported_batch_is_lost_and_each_record_is_there_once(
    live: Live, ingest: Callable[..., Job], spark: SparkSession, disk: SmallDisk, tmp_path: Path
) -> None:
    name = create_topics(live, "power", 2)
    folder = disk.mount_point.relative_to(tmp_path) / "job"  # all of the job's files are on the disk
    job = ingest(live.bootstrap, name, str(folder), batch={"max_records": 400})
    with Feed(live.bootstrap, name, rate=50) as feed:
        for what in ("a batch is reported", "a batch is planned"):
            feed.send(1000)
            is_reached = moments(job)[what]
            running = job.start()
            until(partial(reached, is_reached, running), what)
            assert running.poll() is None, job.state()
            job.kill()
            reported = {each["batch"] for each in job.progress()}
            cut_power(disk)
            for number in reported:
                journal = job.table / "_kcluster" / "batches" / f"{number:09d}.json"
                rows = [job.table / target for _, target in json.loads(journal.read_text())["files"]]
                assert all(file.stat().st_size for file in rows), what
    assert job.once()["state"] == "finished", job.state()
    audit = assert_audit_passes(job)
    assert sum(each["read"] for each in audit["partitions"]) == feed.good + feed.poisonous
    assert_each_record_once(spark, live, job, name, feed)
