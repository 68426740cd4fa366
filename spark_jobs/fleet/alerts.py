"""Alerts about trucks: one left its area, stands still too long, or is silent for too long; each incident told once.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py alerts.yml --bootstrap HOST:PORT

What an incident is
  area      A truck is further than `border_km` outside every area that is its own. It ends when it is inside one again.
  standing  For `standing.after` a truck was less than `standing.metres` from where that time began. It ends with the
            first of two positions in a row that are further away: a single one may be an error of GPS.
  silent    Nothing came from a truck for longer than `silent.after`. It ends with its next position.
  An incident's id is truck|kind|time of its beginning in milliseconds. Its beginning is told once, its end once.

What time it is
  The trucks' clocks say: the newest time in the records, less `late`, is the watermark. What has a time up to the
  watermark is looked at, in the order of time; so an alert comes at least `late` after the fact. A record that comes
  when the watermark has passed is late: counted, and left out; so is all that comes from a truck whose clock is behind
  by more than `late`. Of two positions of a truck with the same time the first counts. While there is a backlog, the
  slowest partition says what time it is. A record that is more than `ahead` ahead of Kafka's or this machine's clock
  is left out before it could move the watermark; so is one with a time before 1970.
  When nothing came for `late`, and Spark has just looked, the topic is quiet: then time goes on as fast as this
  machine's clock, from the newest record, and also the last truck is found silent. The watermark goes no further than
  the newest record: only what was under way for longer than `late` is late.

How each alert comes to be told once
  All trucks are in the driver's memory. A batch of Spark, or a look at a quiet topic, is a step. A step writes its
  number, the trucks and its alerts to a file in the checkpoint; then the alerts go to the topic, in one transaction
  with the number of the step; then a note in the checkpoint says so. Whoever goes on after a crash reads the newest
  file, sends its alerts unless the note or the number says that they are there, and passes over batches that are
  part of it. Readers must be `read_committed`.

How much that is for: a batch's positions pass through the driver (`batch.max_records`), and so do all trucks with each
step: tens of thousands of trucks, not millions.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sql

from spark_jobs.fleet.incidents import Alert, Fix, IncidentTracker
from spark_jobs.records import transform
from spark_jobs.runtime import checkpoint_owner, kafka_source
from spark_jobs.runtime.checkpoint_state import CheckpointState
from spark_jobs.runtime.folder import Folder
from spark_jobs.runtime.publisher import NumberedMessage, Publisher
from spark_jobs.runtime.session import spark_session
from spark_jobs.runtime.streaming_query import BatchGate, watch
from spark_jobs.settings.common import interval, milliseconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from spark_jobs.runtime.job_dir import JobDir
    from spark_jobs.settings.alerts import AlertsSettings

SHUFFLE = {"spark.sql.shuffle.partitions": "4"}
"""A list for each truck is little: Spark's 200 parts would take longer than the work."""


def run(settings: AlertsSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Run the job until it has read what is there (`once`), or until it is stopped."""
    spark = spark_session(settings.name, {**SHUFFLE, **settings.spark})
    client = {"bootstrap.servers": bootstrap, **job_dir.client_settings("librdkafka")}
    checkpoint = Folder(spark, settings.checkpoint)
    checkpoint_owner.claim(checkpoint, job_dir.checkpoint_identity())
    runner = AlertsRunner(settings, CheckpointState(checkpoint, "alerts"), client)
    runner.start()
    gate = BatchGate()

    def process(records: DataFrame, number: int) -> None:
        with gate.batch():
            runner.take_batch(records, number)

    records = kafka_source.read_stream(spark, settings.reading(), bootstrap, job_dir.client_settings("java"))
    trigger = {"availableNow": True} if once else {"processingTime": interval(settings.every)}
    writer = records.writeStream.foreachBatch(process).trigger(**trigger)
    query = writer.queryName(settings.name).option("checkpointLocation", settings.checkpoint).start()
    job_dir.write_state("running", web=spark.sparkContext.uiWebUrl)

    def on_idle() -> None:
        if _idle(query):
            with gate.batch():
                runner.check_idle()

    state = watch(query, job_dir, gate, runner.batch_counts, on_idle)
    if state == "finished":
        runner.check_idle(now=True)
    job_dir.add_facts(**runner.totals())
    return state


class AlertsRunner:
    """Does the steps: a batch, or a look at a quiet topic."""

    def __init__(self, settings: AlertsSettings, state: CheckpointState, client: dict[str, Any]) -> None:
        self.settings = settings
        self.state = state
        known = state.latest
        self.tracker = IncidentTracker(settings, known.get("watch"))
        self.batch: int = known.get("batch", -1)
        self.last_batch_at: float = known.get("came", 0.0)
        """When the last batch came, by this machine's clock."""
        self.totals_by_name: Counter[str] = Counter(known.get("count", {}))
        self._last_idle_check = 0.0
        self._batches: dict[int, dict[str, int]] = {}
        self._publisher = Publisher(f"kcluster-job-{settings.name}-alerts", known["log"], settings.topic, client)

    def start(self) -> None:
        """Have a topic to write to, and tell what a run before did not come to tell."""
        self._publisher.ensure_topic()
        self.publish()

    def take_batch(self, records: DataFrame, number: int) -> None:
        """A batch, unless a run before took it."""
        if number <= self.batch:
            return
        if number != self.batch + 1:
            raise LookupError(
                f"Spark goes on with batch {number}, but the trucks are remembered up to batch {self.batch}:"
                " the checkpoint is damaged; remove it to begin anew"
            )
        rows = positions_by_truck(transform.with_reasons(records, self.settings.reading())).collect()
        counts = count_by_outcome(rows)
        more = counts.total() * 2 > self.settings.batch.max_records
        positions = [(row["truck"], row["partition"], _fixes(row["fixes"])) for row in rows if row["reason"] is None]
        alerts = self.tracker.add_batch(positions, counts, more=more)
        self.batch, self.last_batch_at = number, time.time()
        self._step(alerts, counts)
        self._batches = {number - 1: self._batches.get(number - 1, {}), number: _line(counts)}

    def check_idle(self, *, now: bool = False) -> None:
        """Whether time alone has brought something to tell; as often as batches come, or now."""
        clock = time.time()
        if not now and clock - self._last_idle_check < milliseconds(self.settings.every) / 1000:
            return
        self._last_idle_check = clock
        before = self.tracker.watermark
        alerts = self.tracker.advance_idle(round((clock - self.last_batch_at) * 1000))
        if alerts or self.tracker.watermark != before:
            self._step(alerts, Counter())

    def publish(self) -> None:
        """Send what the newest step has to tell, unless that was done."""
        alerts, step = self.state.latest.get("alerts"), self.state.latest["step"]
        if alerts and step > self.state.published:
            self._publisher.send(lambda: map(self._message, alerts), step)
            self.state.mark_published()  # brokers forget the number in the topic after a week in which nothing was told

    def batch_counts(self, number: int) -> dict[str, Any]:
        """What to say of a batch."""
        return {**self._batches.get(number, {}), "trucks": len(self.tracker.trucks)}

    def totals(self) -> dict[str, Any]:
        """What was counted since the checkpoint is there."""
        return {"count": dict(self.totals_by_name), "trucks": len(self.tracker.trucks)}

    def _step(self, alerts: list[Alert], counts: Counter[str]) -> None:
        """Write down what was found, then tell it."""
        alerts = [alert for alert in alerts if self.settings.ended or alert.ended is None]
        counts["alerts"] = len(alerts)
        self.totals_by_name += counts
        self.state.commit(
            batch=self.batch,
            came=self.last_batch_at,
            count=dict(self.totals_by_name),
            alerts=[alert_record(alert) for alert in alerts],
            watch=self.tracker.to_json(),
        )
        self.publish()

    def _message(self, alert: dict[str, Any]) -> NumberedMessage:
        headers = {"job": self.settings.name, "kind": alert["kind"], "event": alert["event"]}
        return NumberedMessage(json.dumps(alert, ensure_ascii=False).encode(), alert["truck_id"].encode(), headers)


def positions_by_truck(judged: DataFrame) -> DataFrame:
    """Each truck's positions by partition, in the order of their time; of other records only how many."""
    place = (sql.col(name).cast("double").alias(name) for name in ("lat", "lon"))
    fix = sql.struct(sql.unix_millis("time").alias("time"), "_offset", *place)
    good = sql.col("_reason").isNull()
    return (
        judged.select(
            sql.col("_reason").alias("reason"),
            sql.when(good, sql.col("truck_id").cast("string")).alias("truck"),
            sql.col("_partition").alias("partition"),
            sql.when(good, fix).alias("fix"),
        )
        .groupBy("reason", "truck", "partition")
        .agg(sql.count("*").alias("records"), sql.sort_array(sql.collect_list("fix")).alias("fixes"))
        .orderBy("truck", "partition")
    )


def count_by_outcome(rows: list[Any]) -> Counter[str]:
    """How many records told a position, and how many were left out for which reason."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts["rows" if row["reason"] is None else f"skipped {row['reason']}"] += row["records"]
    return counts


def alert_record(alert: Alert) -> dict[str, Any]:
    """An alert as the topic has it."""
    when, lat, lon = alert.fix
    return {
        "id": alert.incident,
        "event": "began" if alert.ended is None else "ended",
        "kind": alert.kind,
        "truck_id": alert.truck,
        "text": _sentence(alert),
        "began": _instant(alert.began),
        "ended": None if alert.ended is None else _instant(alert.ended),
        "position": {"time": _instant(when), "lat": lat, "lon": lon},
    }


def _sentence(alert: Alert) -> str:
    began = {
        "area": f"left its area: {alert.km:.1f} km outside",
        "standing": f"stands still since {_instant(alert.began)}",
        "silent": f"is silent since {_instant(alert.began)}",
    }
    ended = {"area": "is back in its area", "standing": "moves again", "silent": "speaks again"}
    return f"{alert.truck} {(began if alert.ended is None else ended)[alert.kind]}"


def _instant(milliseconds: int) -> str:
    instant = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fixes(rows: list[Any]) -> list[Fix]:
    return [(row["time"], row["lat"], row["lon"]) for row in rows]


def _line(counts: Counter[str]) -> dict[str, int]:
    """The numbers of a batch for its line of progress."""
    skipped = sum(number for name, number in counts.items() if name.startswith("skipped "))
    return {"skipped": skipped, **{name: counts[name] for name in ("rows", "late", "duplicates", "alerts")}}


def _idle(query: StreamingQuery) -> bool:
    """Whether Spark has just looked at the topics, and found nothing new."""
    status = query.status
    return status["message"].startswith("Waiting for") and not status["isDataAvailable"]
