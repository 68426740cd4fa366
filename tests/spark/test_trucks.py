from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from spark_jobs import settings
from spark_jobs.fleet.simulation import FAULTS, TOWNS, corrupted, distance, reports
from tests import progress
from tests.children import child
from tests.integration.conftest import Live

BEGIN = 1_790_000_000.0


def some(count: int, **other: Any) -> list[tuple[bytes, bytes]]:
    fleet = {"trucks": 20, "every": 20.0, "faulty": 0.0, "seed": 1, "begin": BEGIN, **other}
    return list(islice(reports(**fleet), count))


def test_the_same_seed_and_begin_give_the_same_bytes_and_another_seed_gives_others() -> None:
    assert some(3000, faulty=0.1) == some(3000, faulty=0.1)
    assert some(3000) != some(3000, seed=2)


def test_a_truck_covers_the_distance_that_its_speed_says() -> None:
    ways: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, value in some(40_000):
        ways[key.decode()].append(json.loads(value))
    for way in ways.values():
        for one, other in pairwise(way):
            covered = distance((one["lat"], one["lon"]), (other["lat"], other["lon"])) / 20 * 3600
            assert covered <= 95
            assert abs(covered - one["speed"]) < 1.5
    assert len(ways) == 20
    speeds = {report["speed"] for way in ways.values() for report in way}
    assert 0 in speeds, "no truck ever stood"
    assert len(speeds) > 100


def test_trucks_stay_on_land_and_turn_and_get_around() -> None:
    north, south = max(lat for lat, _ in TOWNS), min(lat for lat, _ in TOWNS)
    east, west = max(lon for _, lon in TOWNS), min(lon for _, lon in TOWNS)
    visited = set()
    for _, value in some(60_000):
        report = json.loads(value)
        assert south - 0.1 < report["lat"] < north + 0.1
        assert west - 0.1 < report["lon"] < east + 0.1
        visited |= {town for town in TOWNS if distance(town, (report["lat"], report["lon"])) < 1}
    assert len(visited) > len(TOWNS) / 2


def test_reports_of_a_round_are_spread_over_its_seconds() -> None:
    times = [json.loads(value)["time"] for _, value in some(21)]
    assert times[0] == "2026-09-21T14:13:20.000Z"
    assert times[1] == "2026-09-21T14:13:21.000Z"
    assert times[20] == "2026-09-21T14:13:40.000Z"


def test_the_configured_share_of_records_is_faulty_in_every_way() -> None:
    sound, faulty = dict(enumerate(some(20_000))), some(20_000, faulty=0.05)
    spoiled = [(sound[number][1].decode(), value.decode()) for number, (_, value) in enumerate(faulty)]
    kinds = Counter(
        fault for before, after in spoiled if before != after for fault in FAULTS if corrupted(before, fault) == after
    )
    assert set(kinds) == set(FAULTS)
    assert 800 < kinds.total() < 1200


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        ({"trucks": 0}, "trucks: must be at least 1"),
        ({"rate": -2}, "rate: -2 is not valid; use records per second, 0 for real time or -1 for full speed"),
        ({"begin": "2026-13-18T06:00:00Z"}, "begin: 2026-13-18T06:00:00Z is not a timestamp: month must be in 1..12"),
        ({"begin": "noon"}, "begin: noon is not a timestamp such as 2026-11-18T06:00:00Z"),
        ({"faulty": 2}, "faulty: 2 is not between 0 and 1"),
        ({"truks": 2}, "truks: unknown key; did you mean trucks?"),
    ],
)
def test_an_invalid_file_has_findings(wrong: dict[str, Any], finding: str) -> None:
    assert settings.read({"job": "trucks", **wrong})[1] == [finding]


class Driver:
    """The job as a process, and its folder."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder, self.process = folder, process

    def end(self, seconds: float = 180) -> dict[str, Any]:
        """The state in which it ended."""
        self.process.communicate(timeout=seconds)
        return dict(json.loads((self.folder / "state.json").read_text()))

    def progress(self) -> list[dict[str, Any]]:
        """The lines so far."""
        return progress.batches(self.folder)


@contextmanager
def driver(folder: Path, bootstrap: str, **written: Any) -> Iterator[Driver]:
    """Run the job with these settings, at most as long as the block."""
    folder.mkdir()
    file = folder / "job.json"  # JSON is YAML, too
    file.write_text(json.dumps({"job": "trucks", **written}))
    command = [sys.executable, "spark_jobs/run.py", str(file), "--bootstrap", bootstrap, "--folder", str(folder)]
    with child(command, stderr=subprocess.PIPE, text=True) as process:
        yield Driver(folder, process)


def ended(folder: Path, bootstrap: str, **written: Any) -> dict[str, Any]:
    """The state in which the job with these settings ends."""
    with driver(folder, bootstrap, **written) as job:
        return job.end()


def ends(cluster: Live, topic: str) -> list[int]:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "test"})
    try:
        numbers = consumer.list_topics(topic, 10).topics[topic].partitions
        return [consumer.get_watermark_offsets(TopicPartition(topic, number), 10)[1] for number in numbers]
    finally:
        consumer.close()


def test_trucks_write_at_the_configured_rate_and_stop(kraft: Live, tmp_path: Path) -> None:
    kraft.run("topic", "create", "trucks-load", "--partitions", "10", "--name", kraft.name)
    begun = time.monotonic()
    state = ended(tmp_path / "load", kraft.bootstrap, topics=["trucks-load"], trucks=500, rate=-1, records=200_000)
    assert (state["state"], state["records"]) == ("finished", 200_000)
    assert sum(ends(kraft, "trucks-load")) == 200_000
    assert all(ends(kraft, "trucks-load")), "a partition got nothing"
    assert time.monotonic() - begun < 60
    kraft.run("topic", "create", "trucks-live", "--partitions", "2", "--name", kraft.name)
    with driver(tmp_path / "slow", kraft.bootstrap, topics=["trucks-live"], trucks=100, every=1) as slow:
        deadline = time.monotonic() + 60
        while len(slow.progress()) < 6:  # so many that a moment's standstill does not count
            assert time.monotonic() < deadline
            time.sleep(0.1)
        (tmp_path / "slow" / "stop").touch()
        state = slow.end()
    assert state["state"] == "stopped"
    assert state["records"] == sum(ends(kraft, "trucks-live"))
    records, seconds = (sum(line[name] for line in slow.progress()[:6]) for name in ("records", "seconds"))
    assert 60 < records / seconds < 140


def test_a_record_that_no_broker_takes_is_an_error(kraft: Live, tmp_path: Path) -> None:
    small = ("--partitions", "1", "-c", "max.message.bytes=64")
    kraft.run("topic", "create", "trucks-small", *small, "--name", kraft.name)
    state = ended(tmp_path / "small", kraft.bootstrap, topics=["trucks-small"], trucks=5, rate=-1, records=5)
    assert state["state"] == "failed"
    assert "of 5 records not delivered" in state["cause"]


def test_a_missing_topic_or_broker_is_reported_within_seconds(kraft: Live, tmp_path: Path) -> None:
    state = ended(tmp_path / "topic", kraft.bootstrap, topics=["no-such-topic"])
    assert state["state"] == "failed"
    assert "no-such-topic does not exist" in state["cause"]
    begun = time.monotonic()
    state = ended(tmp_path / "broker", "127.0.0.1:1")
    assert time.monotonic() - begun < 30
    assert state["cause"].startswith("no broker answers (127.0.0.1:1: ")
    assert state["advice"] == "kcluster health"
