"""The audit of an ingest, and that it can fail."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from kcluster.clients.kafka import Kafka
from spark_jobs import settings
from spark_jobs.ingest import audit, batch_journal
from spark_jobs.ingest.offset_sets import SPAN, OffsetSet, PartitionAudit
from spark_jobs.ingest.topic_reader import TopicReader
from spark_jobs.runtime import checkpoint_owner
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder
from tests.integration.conftest import Live
from tests.integration.losing import lose_records
from tests.spark.conftest import PATIENCE, Job
from tests.spark.feeding import Feed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def offsets(*ranges: tuple[int, int]) -> OffsetSet:
    made = OffsetSet()
    for start, end in ranges:
        made.add_range(start, end)
    return made


def test_offsets_are_sets_across_buckets() -> None:
    some = offsets((3, 5), (SPAN - 1, SPAN + 2), (5 * SPAN, 6 * SPAN))
    assert list(some.ranges()) == [(3, 4), (SPAN - 1, SPAN + 1), (5 * SPAN, 6 * SPAN - 1)]
    assert (len(some), SPAN in some, 5 in some) == (5 + SPAN, True, False)
    rest = some.difference(offsets((SPAN, SPAN + 1)))
    assert list(rest.ranges())[1:3] == [
        (SPAN - 1, SPAN - 1),
        (SPAN + 1, SPAN + 1),
    ]
    assert list(some.below(4).ranges()) == [(3, 3)]
    assert [some.add(7), some.add(7), len(offsets((4, 4)))] == [True, False, 0]


def test_a_partition_tells_what_does_not_balance() -> None:
    whole = PartitionAudit("t", 1, offsets((0, 10)), offsets((0, 4), (6, 9)), offsets((4, 6), (9, 10)))
    assert list(whole.problems()) == []
    broken = PartitionAudit("t", 1, offsets((0, 10)), offsets((0, 5), (20, 21)), offsets((4, 6)), {2}, offsets((6, 8)))
    assert list(broken.problems()) == [
        "t partition 1: 2 records missing, offsets 8-9",
        "t partition 1: duplicates at offsets 2, 4",
        "t partition 1: 1 row that no batch wrote, offsets 20",
    ]
    assert broken.report()["gone"] == [(6, 7)]


def batch(number: int, start: int, end: int) -> dict[str, Any]:
    counted = {"read": end - start, "rows": end - start, "dead": 0}
    return {"first": number, "batch": number, "checkpoint": "c", "ranges": {"t": {"0": [start, end]}}, **counted}


def test_a_hundred_descriptions_become_one_and_a_cut_off_folding_is_taken_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Folder(spark, str(tmp_path))
    for number in range(250):
        table.save(
            batch_journal.description_file(number), {**batch(number, number * 10, number * 10 + 10), "files": []}
        )
    folder = tmp_path / batch_journal.BATCHES
    before = {name: (folder / name).read_text() for name in ("000000007.json",)}
    for number in (99, 100, 200):
        batch_journal.compact(table, number)
    assert len(list(folder.glob("*.json"))) == 52
    (folder / "000000007.json").write_text(before["000000007.json"])  # as if it had not been deleted any more
    told = batch_journal.batches(table)
    assert [(each["first"], each["batch"]) for each in told[:3]] == [(0, 99), (100, 199), (200, 200)]
    assert (told[0]["ranges"], told[0]["read"]) == ({"t": {"0": [0, 1000]}}, 1000)
    assert (batch_journal.last_batch(table), batch_journal.load_batch(table, 199)["first"]) == (249, 100)
    batch_journal.compact(table, 200)
    assert not (folder / "000000007.json").exists()


def test_holes_between_batches_are_not_folded_away(spark: SparkSession, tmp_path: Path) -> None:
    table = Folder(spark, str(tmp_path))
    for number in range(100):
        start = number * 10 + (number > 50)
        table.save(batch_journal.description_file(number), {**batch(number, start, number * 10 + 10), "files": []})
    batch_journal.compact(table, 100)
    assert len(batch_journal.batches(table)) == 100


def test_without_a_checkpoint_the_audit_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    told = {"job": "ingest", "topics": ["t"], "format": {"kind": "raw"}, "sink": {"path": str(tmp_path / "table")}}
    read, wrong = settings.read({**told, "name": "never", "checkpoint": str(tmp_path / "checkpoint")})
    assert not wrong
    nobody = TopicReader("never", {"bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(RefusedJobError, match=f"there is no checkpoint at {tmp_path}/checkpoint"):
        audit.audit(spark, read, nobody)


def test_headers_of_others_among_the_dead_letters_may_be_any_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Message:
        def headers(self) -> list[tuple[str, bytes | None]]:
            return [("trace", b"\xff\x00"), ("reason", "größer".encode()), ("none", None)]

    monkeypatch.setattr("spark_jobs.ingest.topic_reader._partitions", lambda *_: [0])
    monkeypatch.setattr("spark_jobs.ingest.topic_reader._ends", lambda *_: (0, 1))
    monkeypatch.setattr("spark_jobs.ingest.topic_reader._messages", lambda *_: [Message()])
    told = TopicReader("reader", {"bootstrap.servers": "127.0.0.1:1"}).dead_letter_headers("t.dead-letters")
    assert list(told) == [{"trace": "\ufffd\x00", "reason": "größer", "none": ""}]


def test_the_audit_balances_and_names_what_is_damaged(
    live: Live, ingest: Callable[..., Job], spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")  # times are told in UTC wherever the driver is
    for name in ("audited", "audited.dead-letters"):
        large = ("-c", "max.message.bytes=4000000")
        live.run("topic", "create", name, "-p", "2", "-r", "3", *large, "-n", live.name)
    # A day that no truck's name is: for each record a value that cannot be computed, which is null.
    columns, sink = {"day": "to_date(truck_id)"}, {"partition_by": ["_date"]}
    job = ingest(live.bootstrap, "audited", batch={"max_records": 1000}, columns=columns, sink=sink)
    with Feed(live.bootstrap, "audited", rate=1) as feed:
        feed.send(3000)
    wild = poison(live, "audited")
    job.start("--once").wait(PATIENCE)
    assert job.state()["state"] == "finished", job.state()
    total = feed.good + feed.poisonous + wild
    assert sum(each["records"] for each in job.progress()) == total
    job.start("--audit").wait(PATIENCE)
    assert json.loads((job.folder / "audit.json").read_text())["ok"]
    read, wrong = settings.read(job.settings)
    assert not wrong
    topics = TopicReader(job.settings["name"], {"bootstrap.servers": live.bootstrap})

    def told() -> dict[str, Any]:
        return audit.audit(spark, read, topics)

    sound = told()
    assert sound["ok"], sound["cause"]
    sums = {name: sum(each[name] for each in sound["partitions"]) for name in ("read", "rows", "dead")}
    assert sums == {"read": total, "rows": feed.good, "dead": feed.poisonous + wild}
    times = {each["timestamp"] for each in topics.dead_letter_headers("audited.dead-letters")}
    assert {"2026-11-18T12:00:00.000Z", "+58692-11-03T14:13:20.000Z"} < times

    file = sorted(job.table.glob("_date=*/batch-*.parquet"))[0]
    kept = shutil.copy(file, job.folder / "kept")
    file.unlink()
    lost = told()
    assert not lost["ok"]
    assert "missing, offsets" in lost["cause"]
    assert any(each["missing"] for each in lost["partitions"])
    shutil.copy(kept, file)
    shutil.copy(kept, job.table / "again.parquet")
    assert any("duplicates at" in problem for problem in told()["problems"])
    assert any(each["duplicates"] for each in told()["partitions"])
    (job.table / "again.parquet").unlink()

    descriptions = sorted((job.table / batch_journal.BATCHES).glob("*.json"))
    for number, sentence in (
        (0, "batch 0: not in the journal"),
        (1, "batch 1: not in the journal"),
        (-1, f"batch {int(descriptions[-1].stem)}: not in the journal"),
    ):
        text = descriptions[number].read_text()
        descriptions[number].unlink()
        assert told()["cause"].startswith(sentence)
        descriptions[number].write_text(text)
    overlapping = json.loads(descriptions[1].read_text())
    overlapping["ranges"]["audited"]["0"][0] -= 3
    text = descriptions[1].read_text()
    (descriptions[1].parent / f".{descriptions[1].name}.crc").unlink()  # Hadoop would say that somebody wrote there
    descriptions[1].write_text(json.dumps(overlapping))
    assert "two batches read offsets" in told()["cause"]
    descriptions[1].write_text(json.dumps({**json.loads(text), "checkpoint": "another"}))
    assert told()["problems"] == ["batch 1 in the table: of another checkpoint"]
    descriptions[1].write_text(text)
    assert told() == sound

    # Dead letters that their topic no longer keeps are told, and no loss; a row that goes as well is one.
    lose_records(Kafka(live.bootstrap), "audited.dead-letters", 0, -1)
    expired = told()
    assert expired["ok"], expired["cause"]
    assert 0 < expired["expired"] == feed.poisonous + wild - sum(each["dead"] for each in expired["partitions"])
    file.unlink()
    assert not told()["ok"]

    Folder(spark, str(job.checkpoint)).save(
        checkpoint_owner.FILE, {"topic_ids": {"audited": "of a topic that is gone"}}
    )
    assert told()["cause"].startswith("topic audited was deleted and created again since this job read it")


def poison(live: Live, topic: str) -> int:
    """Records that once stopped jobs: one that is larger than usual, and one of a clock that counts microseconds."""
    producer = Producer({"bootstrap.servers": live.bootstrap, "message.max.bytes": 4_000_000})
    noon = 1_795_003_200_000
    producer.produce(topic, random.Random(1).randbytes(1_500_000), timestamp=noon)
    producer.produce(topic, b"{oops", timestamp=1_790_000_000_000_000)
    assert producer.flush(60) == 0
    return 2
