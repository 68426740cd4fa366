"""What the file of every job says that turns topics into rows or positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from spark_jobs.settings.common import REASONS, Batch, RecordFormat, check_name, duration, instant, reserved

INSTANT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?")

_CODECS = {f"{what}.{kind}" for what in ("key", "value") for kind in ("serializer", "deserializer")}
RESERVED_CONSUMER_KEYS = _CODECS | {
    "group.id",
    "auto.offset.reset",
    "enable.auto.commit",
    "interceptor.classes",
    "bootstrap.servers",
}
"""Settings of the consumer that are Spark's own, or that would tell nobody anything."""


@dataclass(frozen=True)
class Source:
    """The keys that these jobs share."""

    job: str
    topics: tuple[str, ...]
    name: str
    start: str = "earliest"
    """Where a new job begins: earliest, latest, or an instant such as 2026-11-18T06:00:00Z."""
    every: str = "10s"
    """How often a job that stays takes a batch."""
    when_data_is_gone: Literal["stop", "continue"] = "stop"
    """When retention deleted records before they were read."""
    batch: Batch = field(default_factory=Batch)
    format: RecordFormat = field(default_factory=RecordFormat)
    columns: dict[str, str] = field(default_factory=dict)
    """Further columns as SQL: {event_date: to_date(event_time)}. A value that the expression cannot take becomes null;
    whole numbers that are too large wrap, as in Java: `try_multiply` and its like make null of them.
    """
    rules: dict[str, str] = field(default_factory=dict)
    """Name and SQL condition; a record for which it is not true becomes, in an ingest, a dead letter with that name as
    its reason. Other jobs leave it out, and count it. In an ingest a rule must not depend on the clock or on chance.
    """
    checkpoint: str = ""
    """Where Spark remembers how far it has read; empty: in kcluster's own folder for this job."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further settings of the consumer, in Kafka's words: {fetch.min.bytes: "65536"}."""
    spark: dict[str, str] = field(default_factory=dict)
    """Further settings of Spark: {spark.driver.memory: 2g}."""

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        yield from check_name(self.name)
        yield from self.batch.check()
        yield from self.format.check()
        yield from duration("every", self.every)
        if INSTANT.fullmatch(self.start):
            yield from instant("start", self.start)
        elif self.start not in ("earliest", "latest"):
            yield f"start: {self.start} is neither earliest nor latest nor an instant such as 2026-11-18T06:00:00Z"
        yield from self._names()
        for key in self.kafka:
            if key in RESERVED_CONSUMER_KEYS:
                yield f"kafka.{key}: Spark does not let this be set"

    def column_names(self) -> set[str]:
        """The columns that there are."""
        return {*self.format.names, *self.columns}

    def _names(self) -> Iterator[str]:
        """Names that are taken."""
        yield from reserved("columns", self.columns)
        for name in self.columns:
            if name.lower() in {each.lower() for each in self.format.names}:
                yield f"columns.{name}: the schema has that column already"
        for name in self.rules:
            if name in REASONS:
                yield f"rules.{name}: that is a reason of the job's own; give the rule another name"
