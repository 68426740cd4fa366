"""What tests of whole jobs share: topics with their dead letters, and checks that each record is there once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from tests.integration.conftest import Live
from tests.spark.conftest import Job
from tests.spark.feeding import Feed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def create_topics(live: Live, name: str, partitions: int = 4) -> str:
    """A topic, and the one for its dead letters, with three copies each."""
    for each, number in ((name, partitions), (f"{name}.dead-letters", 2)):
        live.run("topic", "create", each, "-p", str(number), "-r", "3", "-n", live.name)
    return name


def dead_letter_origins(live: Live, name: str) -> list[tuple[str, str, str]]:
    """Where the dead letters came from, as a reader of committed records sees them."""
    found = []
    settings = {"bootstrap.servers": live.bootstrap, "group.id": "reader", "enable.partition.eof": True}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.auto.commit": False})
    partitions = consumer.list_topics(f"{name}.dead-letters", 30).topics[f"{name}.dead-letters"].partitions
    consumer.assign([TopicPartition(f"{name}.dead-letters", number, 0) for number in partitions])
    unread = set(partitions)
    while unread:
        message = consumer.poll(30)
        assert message is not None
        if error := message.error():
            if error.code() == KafkaError._PARTITION_EOF:
                unread.remove(message.partition())
            else:
                assert not error.fatal(), error  # others pass, as while a leader moves
            continue
        headers = {key: value.decode() for key, value in message.headers()}
        found.append((headers["topic"], headers["partition"], headers["offset"]))
    consumer.close()
    return found


def assert_each_record_once(spark: SparkSession, live: Live, job: Job, name: str, feed: Feed) -> None:
    """Every good record is a row once, every other a dead letter once; by the feed's numbers, not by offsets."""
    table = spark.read.format(job.settings["sink"].get("format", "parquet")).load(str(job.table))
    numbers = [row["n"] for row in table.select("n").collect()]
    assert sorted(numbers) == list(range(feed.good))
    dead = dead_letter_origins(live, name)
    assert (len(dead), len(set(dead))) == (feed.poisonous, feed.poisonous)


def assert_audit_passes(job: Job) -> dict[str, Any]:
    """Its audit, which finds nothing wrong."""
    told = job.audit()
    assert told["ok"], told
    return told


def reached(moment: Callable[[], object], running: subprocess.Popen[bytes]) -> bool:
    """Whether the moment is there, or never will be."""
    with suppress(FileNotFoundError):  # a folder that went away while it was looked into
        return bool(moment()) or running.poll() is not None
    return False
