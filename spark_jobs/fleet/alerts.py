"""Alerts about trucks outside their area, standing still or silent for too long; each incident is sent once.

spark-submit --jars KAFKA_CONNECTOR_JARS spark_jobs/run.py alerts.yml --bootstrap HOST:PORT

What an incident is
  area      A truck is more than `border_km` outside all of its areas. Ends when it is inside one again.
  standing  For `standing.after` a truck moved less than `standing.metres`. Ends with the first of two positions in a
            row that are further away: a single one may be an error of GPS.
  silent    Nothing was received from a truck for longer than `silent.after`. Ends with its next position.
  An incident's id is truck|kind|start in milliseconds. One alert is sent for its start and one for its end.

The watermark
  The watermark is the newest event time in the records minus `late`. Positions up to the watermark are evaluated in the
  order of event time; so an alert is sent at least `late` after the event. Records older than the watermark are late:
  counted and skipped; this includes all records of a truck whose clock is behind by more than `late`. Of two positions
  of a truck with the same time the first counts. During a backlog the slowest partition sets the watermark. A record
  more than `ahead` ahead of Kafka's or this machine's clock, or before 1970, is skipped before it moves the watermark.
  When nothing was received for `late` and Spark has just polled, the topic is idle: event time then advances with this
  machine's clock from the newest record on, so that the last truck is found silent too. The watermark itself never
  passes the newest record: only records that took longer than `late` are late.

Exactly once
  The state of all trucks is in the driver's memory. A micro-batch of Spark, or a check of an idle topic, is a step. A
  step writes its number, the state and its alerts to a file in the checkpoint; then the alerts are sent in one
  transaction with the step's number; then a file in the checkpoint records that. After a crash the next run reads the
  newest step, sends its alerts unless they are recorded as sent, and skips batches that are part of it. Consumers need
  isolation.level=read_committed.

Scale: a batch's positions (`batch.max_records`) and the state of all trucks pass through the driver with each step:
tens of thousands of trucks, not millions.
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
from spark_jobs.runtime import batch_offsets, checkpoint_owner, kafka_source
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
"""A list for each truck is little data: Spark's default of 200 tasks takes longer than the work."""


def run(settings: AlertsSettings, bootstrap: str, job_dir: JobDir, *, once: bool) -> str:
    """Run the job to its end; returns "finished" (`once`: all records present at the start are read) or "stopped"."""
    spark = spark_session(settings.name, {**SHUFFLE, **settings.spark})
    client = {"bootstrap.servers": bootstrap, **job_dir.client_settings("librdkafka")}
    checkpoint = Folder(spark, settings.checkpoint)
    runner = AlertsRunner(settings, CheckpointState(checkpoint, "alerts"), client)
    checkpoint_owner.claim(checkpoint, job_dir.checkpoint_identity(), runner.batch)
    runner.start()
    gate = BatchGate()

    def process(records: DataFrame, number: int) -> None:
        with gate.batch():
            batch_offsets.sync_planned(checkpoint, number)
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
    """Runs the steps: micro-batches and checks of an idle topic."""

    def __init__(self, settings: AlertsSettings, state: CheckpointState, client: dict[str, Any]) -> None:
        self.settings = settings
        self.state = state
        known = state.latest
        self.tracker = IncidentTracker(settings, known.get("watch"))
        self.batch: int = known.get("batch", -1)
        self.last_batch_at: float = known.get("came", 0.0)
        """When the last batch was received, by this machine's clock."""
        self.totals_by_name: Counter[str] = Counter(known.get("count", {}))
        self._last_idle_check = 0.0
        self._batches: dict[int, dict[str, int]] = {}
        self._publisher = Publisher(f"kcluster-job-{settings.name}-alerts", known["log"], settings.topic, client)

    def start(self) -> None:
        """Create the topic for alerts, and send what an earlier run did not send."""
        self._publisher.ensure_topic()
        self.publish()

    def take_batch(self, records: DataFrame, number: int) -> None:
        """Process a batch unless an earlier run did; LookupError when batches are missing in the state."""
        if number <= self.batch:
            return
        if number != self.batch + 1:
            raise LookupError(
                f"Spark continues with batch {number}, but the state ends at batch {self.batch}:"
                " the checkpoint is damaged; delete it to start over"
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
        """Check for silent trucks when no batch came; at most every `every`, or `now`."""
        clock = time.time()
        if not now and clock - self._last_idle_check < milliseconds(self.settings.every) / 1000:
            return
        self._last_idle_check = clock
        before = self.tracker.watermark
        alerts = self.tracker.advance_idle(round((clock - self.last_batch_at) * 1000))
        if alerts or self.tracker.watermark != before:
            self._step(alerts, Counter())

    def publish(self) -> None:
        """Send the alerts of the newest step unless they were sent."""
        alerts, step = self.state.latest.get("alerts"), self.state.latest["step"]
        if alerts and step > self.state.published:
            self._publisher.send(lambda: map(self._message, alerts), step)
            self.state.mark_published()  # group offsets expire after a week without alerts

    def batch_counts(self, number: int) -> dict[str, Any]:
        """The counts of a batch for its progress."""
        return {**self._batches.get(number, {}), "trucks": len(self.tracker.trucks)}

    def totals(self) -> dict[str, Any]:
        """The counts since the checkpoint was created."""
        return {"count": dict(self.totals_by_name), "trucks": len(self.tracker.trucks)}

    def _step(self, alerts: list[Alert], counts: Counter[str]) -> None:
        """Commit the step to the checkpoint, then send its alerts."""
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
    """The positions of each truck by partition, ordered by time; skipped records are only counted."""
    coordinates = (sql.col(name).cast("double").alias(name) for name in ("lat", "lon"))
    fix = sql.struct(sql.unix_millis("time").alias("time"), "_offset", *coordinates)
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
    """The number of records with a position ("rows"), and of skipped records by reason."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts["rows" if row["reason"] is None else f"skipped {row['reason']}"] += row["records"]
    return counts


def alert_record(alert: Alert) -> dict[str, Any]:
    """The JSON of an alert in the topic."""
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
    """The counts of a batch as its progress has them."""
    skipped = sum(number for name, number in counts.items() if name.startswith("skipped "))
    return {"skipped": skipped, **{name: counts[name] for name in ("rows", "late", "duplicates", "alerts")}}


def _idle(query: StreamingQuery) -> bool:
    """Whether Spark has just polled the topics without new records."""
    status = query.status
    return status["message"].startswith("Waiting for") and not status["isDataAvailable"]
