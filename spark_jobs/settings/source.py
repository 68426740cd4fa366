"""Settings of every job that reads topics."""

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
"""Consumer properties that Spark sets itself, or that have no effect."""


@dataclass(frozen=True)
class Source:
    """The keys that jobs reading topics share."""

    job: str
    topics: tuple[str, ...]
    name: str
    start: str = "earliest"
    """Where a new checkpoint starts: earliest, latest, or a timestamp such as 2026-11-18T06:00:00Z."""
    every: str = "10s"
    """Time between batches without --once."""
    when_data_is_gone: Literal["stop", "continue"] = "stop"
    """What to do when retention deleted records before they were read."""
    batch: Batch = field(default_factory=Batch)
    format: RecordFormat = field(default_factory=RecordFormat)
    columns: dict[str, str] = field(default_factory=dict)
    """Further columns as SQL: {event_date: to_date(event_time)}. A value that the expression cannot convert becomes
    null; integers that overflow wrap around, as in Java: `try_multiply` and similar functions return null instead.
    """
    rules: dict[str, str] = field(default_factory=dict)
    """Name and SQL condition; a record for which it is not true becomes a dead letter of an ingest, with the name as
    the reason. Other jobs skip and count it. In an ingest a rule must not depend on the clock or on random values.
    """
    checkpoint: str = ""
    """Folder of the checkpoint; empty: in the job directory."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further consumer properties: {fetch.min.bytes: "65536"}."""
    spark: dict[str, str] = field(default_factory=dict)
    """Further Spark properties: {spark.driver.memory: 2g}."""

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        yield from check_name(self.name)
        yield from self.batch.check()
        yield from self.format.check()
        yield from duration("every", self.every)
        if INSTANT.fullmatch(self.start):
            yield from instant("start", self.start)
        elif self.start not in ("earliest", "latest"):
            yield f"start: {self.start} is not earliest, latest or a timestamp such as 2026-11-18T06:00:00Z"
        yield from self._names()
        for key in self.kafka:
            if key in RESERVED_CONSUMER_KEYS:
                yield f"kafka.{key}: set by Spark, cannot be changed; remove it"

    def column_names(self) -> set[str]:
        """The columns of the schema and of `columns`."""
        return {*self.format.names, *self.columns}

    def _names(self) -> Iterator[str]:
        """Findings of names that are used twice or reserved."""
        yield from reserved("columns", self.columns)
        for name in self.columns:
            if name.lower() in {each.lower() for each in self.format.names}:
                yield f"columns.{name}: the schema already has this column"
        for name in self.rules:
            if name in REASONS:
                yield f"rules.{name}: this is a built-in reason; give the rule another name"
