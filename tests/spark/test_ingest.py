"""One batch of an ingest, cut off at each of its steps and done again: real Spark, and no Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException

from spark_jobs import settings
from spark_jobs.ingest import batch_journal, job, sinks
from spark_jobs.records import transform
from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder
from tests.lab.disk import SmallDisk
from tests.spark.conftest import cut_power
from tests.spark.feeding import POISON

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
FILE = {
    "job": "ingest",
    "topics": ["t"],
    "format": {"schema": {"n": "bigint", "lat": "double"}},
    "rules": {"bad_position": "lat between -90 and 90 or lat is null"},
}


class Cut(Exception):  # noqa: N818
    """The driver is gone."""


class Mortal(Folder):
    """A folder whose owner dies before its last step."""

    steps = 10**9

    def _step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Cut

    def save(self, name: str, content: Any) -> None:
        self._step()
        super().save(name, content)

    def move(self, name: str, to: str) -> None:
        self._step()
        super().move(name, to)

    def remove(self, name: str) -> None:
        self._step()
        super().remove(name)


class Box:
    """Where dead letters arrive, as in Kafka: those of a batch together with its number, or not at all."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.numbers: set[int] = set()

    def send(self, letters: Callable[[], Iterable[Any]], number: int) -> None:
        if number not in self.numbers:
            self.letters += [(each["_offset"], each["_reason"]) for each in letters()]
            self.numbers.add(number)


def records(spark: SparkSession, values: list[bytes]) -> DataFrame:
    rows = [(b"k", value, "t", 0, offset, NOON, 0) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, transform.KAFKA_COLUMNS)


def begun(place: Path, end: int) -> None:
    """A checkpoint as Spark leaves it when it gives the first batch."""
    for folder in ("offsets", "sources/0"):
        (place / folder).mkdir(parents=True)
    (place / "metadata").write_text('{"id":"c"}')
    (place / "sources" / "0" / "0").write_text('v1\n{"t":{"0":0}}')
    (place / "offsets" / "0").write_text(f'v1\n{{}}\n{{"t":{{"0":{end}}}}}')


@pytest.mark.parametrize("ending", ["killed", "power cut"])
@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
def test_a_batch_cut_off_at_any_step_is_finished_by_the_next_run(
    spark: SparkSession, disk: SmallDisk, format: str, ending: str
) -> None:
    values = [b'{"n":%d}' % number for number in range(30)]
    values[10:13] = POISON
    frame, told = records(spark, values), settings.read({**FILE, "sink": {"format": format}})[0]
    columns = transform.rows(transform.with_reasons(frame, told)).schema
    for steps in count():
        own = disk.mount_point / str(steps)
        begun(own / "checkpoint", len(values))
        checkpoint, table, box = Folder(spark, str(own / "checkpoint")), str(own / "table"), Box()
        mortal = Mortal(spark, table)
        mortal.steps = steps
        first, second = (sinks.make_sink(spark, told.sink, folder) for folder in (mortal, Folder(spark, table)))
        first.ensure_table(columns)
        try:
            job.ingest_batch(frame, 0, told, first, checkpoint, box)  # type: ignore[arg-type]
            cut = False
        except Cut:
            cut = True
        if ending == "power cut":
            cut_power(disk)
        job.ingest_batch(frame, 0, told, second, checkpoint, box)  # type: ignore[arg-type]
        found = sorted(row["n"] for row in spark.read.format(format).load(table).collect())
        assert found == [*range(10), *range(13, 30)], f"after {steps} steps"
        assert sorted(box.letters) == [(10, "unreadable"), (11, "empty"), (12, "bad_position")]
        assert Folder(spark, table).files(batch_journal.STAGED) == []
        if not cut:
            break
    assert steps >= (5 if format == "parquet" else 3)  # described, moved, and two folders removed


def test_dead_letters_of_a_batch_are_sent_file_by_file(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "DEAD_LETTERS_PER_FILE", 10)
    begun(tmp_path / "checkpoint", 95)
    table, box = Folder(spark, str(tmp_path / "table")), Box()
    asked: list[str] = []
    monkeypatch.setattr(table, "remove", lambda name: asked.extend(table.files(name)))
    told = settings.read(FILE)[0]
    frame = records(spark, [b"{oops"] * 95)
    sink = sinks.make_sink(spark, told.sink, table)
    checkpoint = Folder(spark, str(tmp_path / "checkpoint"))
    batch = job.ingest_batch(frame, 0, told, sink, checkpoint, box)  # type: ignore[arg-type]
    assert job._counts(batch) == {"records": 95, "rows": 0, "dead": 95}  # not what a folded file would say
    assert sorted(box.letters) == [(offset, "unreadable") for offset in range(95)]
    assert len([name for name in asked if "dead" in name and name.endswith(".parquet")]) >= 10
    description = table.load(batch_journal.description_file(0))
    assert (description["read"], description["rows"], description["dead"]) == (95, 0, 95)


def test_what_fits_at_one_look_and_not_at_the_other_stops_the_job(spark: SparkSession, tmp_path: Path) -> None:
    """Here because somebody changed the rules between a commit and its description."""
    begun(tmp_path / "checkpoint", 30)
    frame = records(spark, [b'{"lat":%d}' % number for number in range(29)])  # and an offset without a record
    table, checkpoint = Folder(spark, str(tmp_path / "table")), Folder(spark, str(tmp_path / "checkpoint"))

    def told(most: int) -> Any:
        return settings.read({**FILE, "rules": {"high": f"lat < {most}"}, "sink": {"format": "iceberg"}})[0]

    sink = sinks.make_sink(spark, told(20).sink, table)
    judged = transform.rows(transform.with_reasons(frame, told(20)))
    sink.ensure_table(judged.schema)
    assert sink.write(judged, "c", 0).rows == 20
    for most in (19, 21):
        with pytest.raises(RefusedJobError, match=f"20 rows written, but {most} accepted in the second pass"):
            job.ingest_batch(frame, 0, told(most), sink, checkpoint, Box())  # type: ignore[arg-type]
    assert batch_journal.last_batch(table) == -1
    batch = job.ingest_batch(frame, 0, told(20), sink, checkpoint, Box())  # type: ignore[arg-type]
    assert job._counts(batch) == {"records": 30, "rows": 20, "dead": 9}


def test_a_batch_that_another_checkpoint_described_and_a_file_that_is_gone_stop_the_job(
    spark: SparkSession, tmp_path: Path
) -> None:
    begun(tmp_path / "checkpoint", 3)
    frame, told = records(spark, [b'{"n":1}'] * 3), settings.read(FILE)[0]
    table, checkpoint = Folder(spark, str(tmp_path / "table")), Folder(spark, str(tmp_path / "checkpoint"))
    sink = sinks.make_sink(spark, told.sink, table)
    batch = job.ingest_batch(frame, 0, told, sink, checkpoint, Box())  # type: ignore[arg-type]
    job.ingest_batch(frame, 0, told, sink, checkpoint, Box())  # type: ignore[arg-type]
    table.remove(batch["files"][0][1])
    with pytest.raises(
        RefusedJobError, match=r"_kcluster/staged/0/.* is missing and was not moved to .*batch-000000000-0000"
    ):
        job.ingest_batch(frame, 0, told, sink, checkpoint, Box())  # type: ignore[arg-type]
    table.save(batch_journal.description_file(0), {**batch, "checkpoint": "another"})
    with pytest.raises(RefusedJobError, match="already has a batch 0 of another checkpoint"):
        job.ingest_batch(frame, 0, told, sink, checkpoint, Box())  # type: ignore[arg-type]


def test_only_a_job_that_stops_for_deleted_records_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(when: str) -> list[str]:
        read, wrong = settings.read({**FILE, "when_data_is_gone": when})
        assert not wrong
        return job._deleted(read, {"bootstrap.servers": "127.0.0.1:1"}, cast("Folder", None))

    def nobody(*_: object) -> list[str]:
        raise KafkaException(KafkaError(KafkaError._TRANSPORT))

    monkeypatch.setattr("spark_jobs.runtime.batch_offsets.next_offsets", lambda _: {})
    monkeypatch.setattr(
        "spark_jobs.ingest.topic_reader.TopicReader.deleted_ranges", lambda *_: ["t partition 0 offsets 1-2"]
    )
    assert (asked("stop"), asked("continue")) == (["t partition 0 offsets 1-2"], [])
    monkeypatch.setattr("spark_jobs.ingest.topic_reader.TopicReader.deleted_ranges", nobody)
    assert asked("stop") == []
