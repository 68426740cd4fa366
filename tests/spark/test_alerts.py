"""Alerts through real Spark and real Kafka: each incident told once, however often the job is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from confluent_kafka.admin import AdminClient

from kcluster.clients.processes import Process, left_after
from spark_jobs import settings
from spark_jobs.fleet.alerts import AlertsRunner, alert_record
from spark_jobs.fleet.incidents import Alert, Fix, IncidentTracker
from spark_jobs.runtime.checkpoint_state import CheckpointState
from spark_jobs.runtime.folder import Folder
from tests import progress
from tests.integration.conftest import Live
from tests.spark.conftest import until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOME, FAR = (53.55, 10.0), (54.55, 10.0)
FILE = {
    "job": "alerts",
    "areas": [{"name": "home", "circles": [{"lat": HOME[0], "lon": HOME[1], "km": 30}]}],
    "standing": {"after": "6s"},
    "silent": {"after": "10s"},
    "every": "500ms",
    "late": "6s",
    "ahead": "1s",
    "batch": {"max_records": 1000},
}
UNREADABLE = b"{oops"


def record(truck: str, fix: Fix) -> bytes:
    when = datetime.fromtimestamp(fix[0] / 1000, UTC).isoformat()
    return json.dumps({"truck_id": truck, "lat": fix[1], "lon": fix[2], "time": when}).encode()


def told(bootstrap: str, topic: str) -> list[dict[str, Any]]:
    """Every alert that a reader of committed records sees."""
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    try:
        parts = [TopicPartition(topic, part, 0) for part in consumer.list_topics(topic, 10).topics[topic].partitions]
        consumer.assign(parts)
        found, left = [], len(parts)
        while left:
            message = consumer.poll(30)
            assert message is not None, "the topic of alerts cannot be read"
            if message.error() is None:
                found.append(json.loads(message.value()))
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF
                left -= 1
        return found
    finally:
        consumer.close()


class Trucks(threading.Thread):
    """Twelve trucks that tell what they do as it happens: out of order, some twice, some nonsense; until the end."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        super().__init__()
        from confluent_kafka import Producer

        self.producer = Producer(
            {"bootstrap.servers": bootstrap, "partitioner": "murmur2_random", "enable.idempotence": True}
        )
        self.topic = topic
        self.end = threading.Event()
        self.sent: list[tuple[str, Fix]] = []
        self.twice = self.nonsense = 0
        self.lucky = random.Random(5)
        self.held: list[tuple[float, str, Fix]] = []
        self.asleep: dict[str, float] = {}
        self.place = {f"truck-{number}": HOME for number in range(12)}

    def run(self) -> None:
        while not self.end.wait(0.2):
            self.round(time.time())
        self.round(time.time() + 60)
        assert self.producer.flush(60) == 0

    def round(self, now: float) -> None:
        """What is due goes out before anything new is made: however slow this machine is, nothing comes too late."""
        for held in [each for each in self.held if each[0] <= now]:
            self.held.remove(held)
            self.send(*held[1:])
        self.producer.flush(60)
        for truck in self.place:
            if self.asleep.get(truck, 0) < now and not self.end.is_set():
                self.drive(truck, now)

    def drive(self, truck: str, now: float) -> None:
        if self.lucky.random() < 0.01:
            self.asleep[truck] = now + 12
        lat, lon = self.place[truck]
        moves = [(lat, lon)] * 40 + [(lat + 0.002, lon), HOME, FAR]
        self.place[truck] = self.lucky.choice(moves)
        delay = self.lucky.choice([0, 0, 0, 1.5])
        self.held.append((now + delay, truck, (round(now * 1000), *self.place[truck])))

    def send(self, truck: str, fix: Fix) -> None:
        self.sent.append((truck, fix))
        for _ in range(self.lucky.choice([1] * 20 + [2])):
            self.producer.produce(self.topic, record(truck, fix), truck)
            self.twice += 1
        self.twice -= 1
        if self.lucky.random() < 0.01:
            self.producer.produce(self.topic, UNREADABLE, truck)
            ahead = (fix[0] + 3_600_000, *FAR)
            self.producer.produce(self.topic, record(truck, ahead), truck)
            self.nonsense += 1

    def belated(self) -> None:
        """A position of each truck that comes long after others were looked at."""
        first = self.sent[0][1][0]
        for truck in self.place:
            self.producer.produce(self.topic, record(truck, (first + 1, *FAR)), truck)
        assert self.producer.flush(60) == 0


class Job:
    """The job as people run it."""

    def __init__(self, cluster: Live, folder: Path, topic: str) -> None:
        self.cluster, self.name = cluster, topic
        self.file = folder / "alerts.yml"
        self.file.write_text(yaml.safe_dump({**FILE, "name": topic, "topics": [topic]}))
        self.folder = cluster.home / "jobs" / cluster.name / topic

    def submit(self, *how: str) -> None:
        self.cluster.run("job", "submit", "alerts", "--config", str(self.file), "-n", self.cluster.name, *how)

    def kill(self) -> None:
        process = Process(**json.loads((self.folder / "record.json").read_text())["process"])
        os.kill(process.pid, signal.SIGKILL)
        assert not left_after([process], 10)

    def batches(self) -> int:
        return len(progress.batches(self.folder))


def expected(job: Job, sent: list[tuple[str, Fix]]) -> list[Alert]:
    """What is to be told of these positions; in the end all trucks are silent, which only a quiet topic tells."""
    watch = IncidentTracker(settings.read(yaml.safe_load(job.file.read_text()))[0])
    return watch.add_batch([(truck, 0, [fix]) for truck, fix in sent], Counter(), more=False) + watch.advance_idle(
        3_600_000
    )


def eventful(alerts: list[Alert]) -> bool:
    kinds = Counter(alert.kind for alert in alerts)
    return min(kinds["area"], kinds["standing"], kinds["silent"]) > 5


def test_each_incident_is_sent_once_though_the_job_is_killed_repeatedly(kraft: Live, tmp_path: Path) -> None:
    topic = "alerts_killed"
    kraft.run("topic", "create", topic, "-n", kraft.name, "--partitions", "3")
    job, trucks = Job(kraft, tmp_path, topic), Trucks(kraft.bootstrap, topic)
    trucks.start()
    try:
        for moment in (0.1, 1.3):
            before = job.batches()
            job.submit()
            until(lambda before=before: job.batches() > before + 1, "two batches")
            threading.Event().wait(moment + trucks.lucky.random())
            job.kill()
        job.submit()
        before = job.batches()
        until(lambda: job.batches() > before + 1, "two batches after the last kill")
        until(lambda: eventful(expected(job, trucks.sent)), "some incidents of each kind")
    finally:
        trucks.end.set()
        trucks.join()
    alerts = expected(job, trucks.sent)
    wanted = Counter((alert.incident, alert.ended is None) for alert in alerts)

    def seen() -> Counter[tuple[str, bool]]:
        return Counter((alert["id"], alert["event"] == "began") for alert in told(kraft.bootstrap, f"{topic}.alerts"))

    until(lambda: seen().total() >= wanted.total(), "as many alerts as incidents")
    job.kill()
    trucks.belated()
    job.submit("--once")  # goes on from the checkpoint
    assert seen() == wanted
    count = json.loads((job.folder / "state.json").read_text())["count"]
    assert count["rows"] == len(trucks.sent) + trucks.twice + len(trucks.place)
    assert (count["duplicates"], count["late"]) == (trucks.twice, len(trucks.place))
    assert (count["skipped unreadable"], count["skipped clock_ahead"]) == (trucks.nonsense, trucks.nonsense)
    assert count["alerts"] == wanted.total()


def batch(spark: SparkSession, *values: bytes) -> DataFrame:
    """Records as Kafka's source gives them."""
    kind = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"
    rows = [(None, value, "trucks", 0, offset, datetime.now(UTC)) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, kind)


class CrashError(Exception):
    pass


def test_an_interrupted_step_is_sent_once(
    kraft: Live,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, findings = settings.read({**FILE, "name": "cut-off", "topics": ["trucks"], "alerts": "alerts_cut_off"})
    assert findings == []
    client = {"bootstrap.servers": kraft.bootstrap}

    def runner() -> AlertsRunner:
        """What a new process begins with."""
        begun = AlertsRunner(asked, CheckpointState(Folder(spark, str(tmp_path)), "alerts"), client)
        begun.start()
        return begun

    def alerts() -> list[str]:
        return [f"{each['truck_id']} {each['kind']} {each['event']}" for each in told(kraft.bootstrap, asked.topic)]

    def crash(*_: Any, **__: Any) -> None:
        raise CrashError

    start = round(time.time() * 1000) - 60_000
    one, two = record("t", (start, *FAR)), record("t", (start + 7_000, *HOME))
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointState, "commit", crash)  # before anything was written down
        with pytest.raises(CrashError):
            runner().take_batch(batch(spark, one, two), 0)
    assert alerts() == []
    with monkeypatch.context() as patch:
        begun = runner()
        patch.setattr(AlertsRunner, "publish", crash)  # written down and not told
        with pytest.raises(CrashError):
            begun.take_batch(batch(spark, one, two), 0)
    assert alerts() == []
    runner().take_batch(batch(spark, one, two), 0)  # told, but Spark does not know
    until(lambda: alerts() == ["t area began"], "the alert")  # a commit is answered before readers may see it
    runner().take_batch(batch(spark, one, two), 0)
    second = runner()
    assert alerts() == ["t area began"]
    second.take_batch(batch(spark, one, UNREADABLE), 1)
    assert second.totals()["count"] == {"rows": 3, "alerts": 1, "duplicates": 1, "skipped unreadable": 1}
    second.last_batch_at -= 7
    second.check_idle(now=True)  # the topic was quiet for seven seconds: what waits is looked at
    second.check_idle(now=True)
    runner().check_idle(now=True)
    until(lambda: alerts() == ["t area began", "t area ended"], "the end of the alert")
    forgotten = second._publisher.name  # as brokers forget it after a week
    admin = AdminClient(client)  # kept: with it the answer would go
    admin.delete_consumer_groups([forgotten], request_timeout=30)[forgotten].result(60)
    runner()
    assert alerts() == ["t area began", "t area ended"]
    with pytest.raises(LookupError, match="Spark continues with batch 7"):
        runner().take_batch(batch(spark, one), 7)


def test_an_alert_says_in_words_what_happened() -> None:
    asked, _ = settings.read({**FILE, "topics": ["trucks"]})
    watch = IncidentTracker(asked)
    watch.add_batch([("t", 0, [(0, *FAR)])], Counter(), more=False)
    (alert,) = watch.advance_idle(6_000)
    assert alert_record(alert) == {
        "id": "t|area|0",
        "event": "began",
        "kind": "area",
        "truck_id": "t",
        "text": "t left its area: 81.2 km outside",
        "began": "1970-01-01T00:00:00.000Z",
        "ended": None,
        "position": {"time": "1970-01-01T00:00:00.000Z", "lat": FAR[0], "lon": FAR[1]},
    }
