from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcluster.clients.processes import Process, left_after
from spark_jobs import settings
from spark_jobs.fleet import positions
from spark_jobs.fleet.positions import TruckPosition, load, merge, write
from tests import progress
from tests.integration.conftest import Live
from tests.spark.conftest import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = 1_790_000_000_000_000


def at(id: str, time: int, offset: int = 0, **other: Any) -> TruckPosition:
    return TruckPosition(**{"id": id, "lat": 50.0, "lon": 10.0, "time": NOON + time, "offset": offset, **other})


def test_the_newest_position_wins_in_whatever_order_and_however_often_they_come() -> None:
    story = [at("a", second, offset, lat=50 + second) for offset, second in enumerate((3, 1, 5, 2, 5, 4))]
    story += [at("b", 1)]
    first = merge({}, story)
    assert {name: (position.time - NOON, position.offset) for name, position in first.items()} == {
        "a": (5, 4),  # of two with the same time the one that was written last
        "b": (1, 0),
    }
    luck = random.Random(1)
    for _ in range(20):
        luck.shuffle(story)
        again = merge(merge({}, story[:3]), story)
        assert {name: position.age for name, position in again.items()} == {
            name: position.age for name, position in first.items()
        }
    assert merge(first, story) == first, "a batch that is done again changes something"


@pytest.mark.parametrize(
    ("lat", "lon", "bearing"), [(50.1, 10, 0), (50, 10.1, 90), (49.9, 10, 180), (50, 9.9, 270), (50.00001, 10, 33)]
)
def test_the_direction_comes_from_two_positions_and_stays_while_the_truck_stands(
    lat: float, lon: float, bearing: float
) -> None:
    before = {"a": at("a", 0, bearing=33.0)}
    assert merge(before, [at("a", 1, lat=lat, lon=lon)])["a"].bearing == pytest.approx(bearing, abs=0.1)


def test_a_truck_without_records_for_long_is_removed_also_when_a_clock_is_ahead() -> None:
    hour, now = 3_600_000_000, NOON / 1_000_000
    known = {"old": at("old", -2 * hour), "new": at("new", 0)}
    assert list(positions.without_expired(known, 3_600_000, now)) == ["new"]
    assert positions.without_expired(known, 3 * 3_600_000, now) == known
    long_ago = now + 10**9
    assert list(positions.without_expired(known, 3_600_000, long_ago)) == ["new"], "old records are read from the start"
    ahead = {**known, "ahead": at("ahead", 10**6 * hour)}
    assert list(positions.without_expired(ahead, 3_600_000, now)) == ["new", "ahead"]
    assert positions.without_expired({}, 1, now) == {}


def test_what_is_written_is_read_again_as_it_was(tmp_path: Path) -> None:
    known = {"a": at("a", 123_456, 7, speed=8.5), "ü": at("ü", 0, bearing=1.0)}
    assert load(tmp_path / "none") == {}
    write(tmp_path / "lake", known, batch=3, as_of=1.5, lag=None)
    assert load(tmp_path / "lake") == known
    told = json.loads((tmp_path / "lake" / "latest.json").read_text())
    assert (told["as_of"], told["batch"], told["lag"]) == (1.5, 3, None)
    assert told["trucks"][0]["time"] == "2026-09-21T14:13:20.123456Z"
    assert [file.name for file in (tmp_path / "lake").iterdir()] == ["latest.json"]


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        ({"fields": {"id": "truck"}}, "fields.id: unknown column truck; known: at, id, lat, lon"),
        ({"forget": "never"}, "forget: never is not a duration; use 500ms, 10s, 5m, 2h or 1d"),
        ({"every": "often"}, "every: often is not a duration; use 500ms, 10s, 5m, 2h or 1d"),
        (
            {"sink": {"path": "s3a://lake"}},
            "sink.path: s3a://lake is not a folder of the driver's machine",
        ),
        ({"feilds": {}}, "feilds: unknown key; did you mean fields?"),
    ],
)
def test_an_invalid_file_has_findings(wrong: dict[str, Any], finding: str) -> None:
    schema = {"id": "string", "lat": "double", "lon": "double", "at": "timestamp"}
    right = {"job": "latest", "topics": ["t"], "format": {"schema": schema}, "fields": {"id": "id", "time": "at"}}
    written = {**right, **wrong}
    if "fields" in wrong:
        written["fields"] = {**right["fields"], **wrong["fields"]}  # type: ignore[dict-item]
    assert settings.read(right)[1] == []
    assert settings.read(written)[1] == [finding]


SCHEMA = {"truck_id": "string", "lat": "double", "lon": "double", "speed": "double", "time": "timestamp"}


def report(id: str, time: str, **other: Any) -> str:
    return json.dumps({"truck_id": id, "lat": 52.5, "lon": 13.4, "speed": 80.0, "time": time, **other})


def rows(spark: SparkSession, *values: str | None) -> dict[str | None, Any]:
    """The newest positions of a batch of records with the offsets 0, 1, 2, ..."""
    from pyspark.sql import functions as sql

    from spark_jobs.records import transform

    written = {"job": "latest", "topics": ["t"], "format": {"schema": SCHEMA}, "fields": {"speed": "speed"}}
    wish, findings = settings.read({**written, "rules": {"known": "truck_id != 'ghost'"}})
    assert not findings
    shape = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"
    bytes_ = [None if value is None else bytearray(value.encode()) for value in values]
    records = spark.createDataFrame(
        [(None, value, "t", 0, offset, None) for offset, value in enumerate(bytes_)], shape
    ).withColumn("timestamp", sql.lit("2026-11-18T12:00:00Z").cast("timestamp"))
    found = positions.latest_in_batch(transform.with_reasons(records, wish), wish.fields).collect()
    return {row["id"]: row for row in found}


def test_of_a_batch_each_truck_has_one_position_and_what_tells_none_is_counted(spark: SparkSession) -> None:
    found = rows(
        spark,
        report("a", "2026-11-18T11:00:05Z", lat=1),
        report("a", "2026-11-18T11:00:09Z", lat=2),
        report("a", "2026-11-18T11:00:09Z", lat=3, speed=None),
        report("a", "2026-11-18T11:00:01Z", lat=4),
        report("b", "2026-11-18T11:00:01Z", speed=-5),
        None,
        "",
        '{"truck_id": "a", "lat"',
        report("a", "2026-11-18T11:59:00Z", lat="north"),
        report("a", "2026-11-18T11:59:00Z", lat=99),
        report("a", "2026-11-18T11:59:00Z", lon="NaN"),
        report("ghost", "2026-11-18T11:59:00Z"),
        report("a", "+12026-11-18T11:59:00Z"),
        json.dumps({"truck_id": "a", "lat": 1, "lon": 1}),
    )
    assert set(found) == {"a", "b", None}
    assert found["a"]["last"].asDict() == {
        "lat": 3.0,
        "lon": 13.4,
        "time": 1_794_999_609_000_000,
        "offset": 2,
        "speed": None,
    }
    assert found["b"]["last"]["speed"] is None, "a speed below nothing"
    assert {name: row["records"] for name, row in found.items()} == {"a": 4, "b": 1, None: 9}


class Run:
    """The job on a real cluster, submitted by the real CLI."""

    def __init__(self, cluster: Live, folder: Path) -> None:
        from confluent_kafka import Producer

        self.cluster, self.name, self.topic = cluster, "latest-test", "latest-test"
        cluster.run("topic", "create", self.topic, "--partitions", "3", "--name", cluster.name)
        self.file, self.sink = folder / "latest.json", folder / "lake"
        settings: dict[str, Any] = {"topics": [self.topic], "every": "300ms", "format": {"schema": SCHEMA}}
        settings |= {"fields": {"speed": "speed"}, "sink": {"path": str(self.sink)}, "job": "latest"}
        settings |= {"spark": {"spark.ui.enabled": "false"}, "rules": {"known": "truck_id != 'ghost'"}}
        self.file.write_text(json.dumps(settings))
        self.folder = cluster.home / "jobs" / cluster.name / self.name
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, "partitioner": "murmur2_random"})

    def submit(self) -> None:
        how = ("--config", str(self.file), "--name", self.name, "--master", "local[2]", "-n", self.cluster.name)
        self.cluster.run("job", "submit", "latest", *how)

    def send(self, *values: str) -> None:
        for value in values:
            key = value.partition('"truck_id": "')[2][:1]
            self._producer.produce(self.topic, value.encode(), key)
        assert self._producer.flush(60) == 0

    def kill(self) -> None:
        process = Process(**json.loads((self.folder / "record.json").read_text())["process"])
        os.killpg(process.pid, signal.SIGKILL)
        assert not left_after([process], 10)

    @property
    def told(self) -> dict[str, Any]:
        file = self.sink / "latest.json"
        return dict(json.loads(file.read_text())) if file.exists() else {"trucks": []}

    @property
    def lats(self) -> dict[str, float]:
        return {truck["id"]: truck["lat"] for truck in self.told["trucks"]}

    def shows(self, **lats: float) -> None:
        """Wait until it shows just these trucks."""
        until(lambda: self.lats == lats, f"{lats} in latest.json")

    def counted(self) -> dict[str, int]:
        """Sums over all batches told so far."""
        lines = progress.batches(self.folder)
        return {name: sum(line[name] for line in lines) for name in ("rows", "skipped")}


def test_late_and_double_reports_lose_and_no_crash_brings_an_old_place_back(kraft: Live, tmp_path: Path) -> None:
    run = Run(kraft, tmp_path)
    run.send(report("a", "2026-11-18T11:00:09Z", lat=2), report("a", "2026-11-18T11:00:05Z", lat=1), "{oops", "")
    run.send(report("b", "2026-11-18T11:00:00Z", lat=5), report("ghost", "2026-11-18T11:00:00Z", lat=6))
    run.submit()
    run.shows(a=2, b=5)
    until(lambda: run.counted() == {"rows": 3, "skipped": 3}, "the count of what told nothing")
    # Later batches: a late report, a double one, one at the very same time, and a truck nobody knew.
    run.send(report("a", "2026-11-18T11:00:08Z", lat=3), report("b", "2026-11-18T11:00:00Z", lat=7))
    run.send(report("c", "2026-11-18T10:00:00Z", lat=8))
    run.shows(a=2, b=7, c=8)
    until(lambda: run.told["lag"] == 0, "no lag")
    before = (run.sink / "latest.json").read_text()
    run.send(report("a", "2026-11-18T11:00:10Z", lat=9))
    run.shows(a=9, b=7, c=8)
    until(lambda: run.counted()["rows"] == 7, "the batch is done")
    # Killed after the file was written and before Spark noted the batch: it comes again and changes nothing.
    run.kill()
    checkpoint = run.folder / "checkpoint"
    newest = max(
        (file for file in (checkpoint / "commits").iterdir() if file.name.isdigit()), key=lambda f: int(f.name)
    )
    for file in (newest, newest.with_name(f".{newest.name}.crc")):
        file.unlink(missing_ok=True)
    run.send(report("b", "2026-11-18T11:00:01Z", lat=10))
    run.submit()
    run.shows(a=9, b=10, c=8)
    # Killed before the file was written: the batch that comes again heals it.
    run.kill()
    (run.sink / "latest.json").write_text(before)
    for number in range(int(newest.name), int(newest.name) + 50):
        for file in (checkpoint / "commits" / f"{number}", checkpoint / "commits" / f".{number}.crc"):
            file.unlink(missing_ok=True)
        for file in (checkpoint / "offsets" / f"{number + 1}", checkpoint / "offsets" / f".{number + 1}.crc"):
            file.unlink(missing_ok=True)
    run.submit()
    run.shows(a=9, b=10, c=8)
    assert kraft.run("job", "stop", run.name).returncode == 0
    assert json.loads((run.folder / "state.json").read_text())["state"] == "stopped"
