"""Each record is in the table or among the dead letters once, whatever dies: real Spark, real Kafka."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcluster.clients.kafka import Kafka
from tests.integration.conftest import Live
from tests.integration.losing import lose_records
from tests.spark.conftest import Job, until
from tests.spark.feeding import Feed
from tests.spark.verification import assert_audit_passes, assert_each_record_once, create_topics, reached

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KILLS = 20


def phases(job: Job) -> dict[str, Callable[[], object]]:
    """Moments in a batch, by what is on disk then that is not there now."""

    def new(folder: Path, pattern: str) -> Callable[[], set[Path]]:
        before = set(folder.glob(pattern))
        return lambda: {*folder.glob(pattern)} - before

    staged, files = new(job.table, "_kcluster/staged/*/*.parquet"), new(job.table, "batch-*")
    return {
        "records are staged": staged,
        "the batch is described": new(job.table, "_kcluster/batches/*.json"),
        "files are moved": files,
        "letters are sent": lambda: files() and [*job.table.glob("_kcluster/staged/*-dead")],
        "all is done but Spark's note": lambda: files() and not [*job.table.glob("_kcluster/staged/*")],
        "the batch is done": new(job.checkpoint, "commits/[0-9]*"),
    }


def test_a_driver_killed_at_twenty_moments_loses_nothing_and_writes_nothing_twice(
    live: Live, ingest: Callable[..., Job], spark: SparkSession
) -> None:
    seed = time.time_ns() % 10_000
    chance = random.Random(seed)
    name = create_topics(live, "killed")
    job = ingest(live.bootstrap, name, batch={"max_records": 400})
    killed = []
    with Feed(live.bootstrap, name, rate=100) as feed:
        feed.send(400)
        for number in range(KILLS):
            moments = phases(job)
            what = [*moments, "it starts"][number % (len(moments) + 1)]
            running = job.start()
            wait = chance.uniform(0, 0.15 if what in moments else 6)
            if what in moments:
                until(partial(reached, moments[what], running), what)
            time.sleep(wait)  # the moment itself is by chance
            assert running.poll() is None, job.state()
            job.kill()
            killed.append(f"{what} + {wait:.3f} s")
    print(f"seed {seed}: killed when", "; ".join(killed))
    assert list(Path(os.environ["SPARK_LOCAL_DIRS"]).glob("blockmgr-*")), "what is left goes with the run of the tests"
    job.settings["batch"] = {"max_records": 100_000}
    assert job.once()["state"] == "finished"
    told = assert_audit_passes(job)
    assert sum(each["read"] for each in told["partitions"]) == feed.good + feed.poisonous
    assert_each_record_once(spark, live, job, name, feed)


def test_a_broker_killed_and_a_topic_grown_while_running_lose_nothing(
    live: Live, ingest: Callable[..., Job], spark: SparkSession
) -> None:
    name = create_topics(live, "grown", 10)
    job = ingest(live.bootstrap, name, every="1s")
    with Feed(live.bootstrap, name, rate=300) as feed:
        feed.send(5000)
        job.start()
        until(lambda: len(job.progress()) > 1 or job.ended, "batches")
        nodes = {each["node"]: each for each in status(live)}
        os.kill(nodes["broker-2"]["pid"], signal.SIGKILL)
        try:
            seen = len(job.progress())
            until(lambda: len(job.progress()) > seen + 2 or job.ended, "batches without the broker")
        finally:
            live.run("up", "--name", live.name)  # others use the cluster too
            lead_again(live)
        live.run("topic", "alter", name, "--partitions", "20", "--yes", "-n", live.name)
        until(lambda: partitions_read(job) == 20 or job.ended, "records of the new partitions")
    assert job.stop()["state"] == "stopped"
    assert job.once()["state"] == "finished"
    assert len(assert_audit_passes(job)["partitions"]) == 20
    assert sum(each["dead"] for each in job.progress()) == feed.poisonous
    assert_each_record_once(spark, live, job, name, feed)


def lead_again(live: Live) -> None:
    """Give the broker back what it led before: Kafka would do so minutes later, in the middle of another test."""
    from confluent_kafka import ElectionType

    kafka = Kafka(live.bootstrap)

    def led() -> bool:
        kafka.wait(kafka.admin.elect_leaders(ElectionType.PREFERRED))
        parts = [part for each in kafka.metadata().topics.values() for part in each.partitions.values()]
        return all(part.leader == part.replicas[0] for part in parts)

    until(led, "every partition's first replica leads")


def status(live: Live) -> list[dict[str, Any]]:
    return list(json.loads(live.run("status", "-n", live.name, "-o", "json").stdout)["nodes"])


def partitions_read(job: Job) -> int:
    """Of how many partitions the batches tell."""
    seen: set[str] = set()
    for file in (job.table / "_kcluster" / "batches").glob("*.json"):
        with suppress(FileNotFoundError):  # folded meanwhile
            seen |= {number for each in json.loads(file.read_text())["ranges"].values() for number in each}
    return len(seen)


def test_records_that_retention_took_stop_a_job_and_a_damaged_checkpoint_too(
    live: Live, ingest: Callable[..., Job]
) -> None:
    name = create_topics(live, "taken", 1)
    job = ingest(live.bootstrap, name)
    with Feed(live.bootstrap, name, rate=1) as feed:
        feed.send(1000)
    assert job.once()["state"] == "finished"
    with Feed(live.bootstrap, name, rate=1) as more:
        more.send(1000)
    lose_records(Kafka(live.bootstrap), name, 0, 1300)
    read = feed.good + feed.poisonous
    told = job.once()
    assert told["state"] == "failed"
    assert told["cause"] == f"records were deleted before they were read: taken partition 0 offsets {read}-1299"
    assert "when_data_is_gone: continue" in told["advice"]
    job.settings["when_data_is_gone"] = "continue"
    assert job.once()["state"] == "finished"
    (account,) = assert_audit_passes(job)["partitions"]
    assert account["gone"] == [[read, 1299]]
    assert account["read"] - account["rows"] - account["dead"] == 1300 - read

    newest = max(
        (file for file in (job.checkpoint / "offsets").iterdir() if file.name.isdigit()), key=lambda f: int(f.name)
    )
    newest.write_text(newest.read_text()[:-10])
    told = job.once()
    assert told["state"] == "failed"
    assert told["cause"].startswith("a file of the checkpoint or of the table is damaged (")
    assert f"{newest} " in told["cause"]
    assert "restore it from a backup" in told["advice"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "lab", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_reported_and_with_free_space_the_job_continues(
    live: Live, ingest: Callable[..., Job], small_disk: Path
) -> None:
    name = create_topics(live, "full", 2)
    job = ingest(live.bootstrap, name, sink={"path": str(small_disk / "table")})
    job.table = small_disk / "table"
    with Feed(live.bootstrap, name, rate=1) as feed:
        feed.send(1000)
    assert job.once()["state"] == "finished"
    filler = small_disk / "filler"
    with Feed(live.bootstrap, name, rate=1) as more:
        more.send(20_000)
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - 32_768))
    told = job.once()
    assert told["state"] == "failed"
    assert told["cause"].startswith("the disk is full"), told
    filler.unlink()
    assert job.once()["state"] == "finished"
    read = sum(each["read"] for each in assert_audit_passes(job)["partitions"])
    assert read == feed.good + feed.poisonous + more.good + more.poisonous
