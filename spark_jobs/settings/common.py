"""Settings and checks that several jobs share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from spark_jobs.settings import avro
from spark_jobs.settings.types import problems

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
EMPTY, NOT_UTF8, UNREADABLE = "empty", "not_utf8", "unreadable"
UNKNOWN_FIELDS, NO_NUMBER = "unknown_fields", "no_number"
REASONS = (EMPTY, NOT_UTF8, UNREADABLE, UNKNOWN_FIELDS, NO_NUMBER)
"""Reasons of dead letters that are checked before the rules of the file."""
DURATION = re.compile(r"\d+(ms|s|m|h|d)")


@dataclass(frozen=True)
class Batch:
    """Limits of a batch: small enough to repeat after a crash, large enough for large files."""

    max_records: int = 5_000_000
    """Upper limit of a batch: more is not faster, and all of it is read again when the driver dies during it."""
    min_records: int = 0
    """Wait for that many records, so that a quiet topic does not become many small files, ..."""
    max_wait: str = "15m"
    """... but not longer than this."""

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        if self.max_records < 1:
            yield "batch.max_records: must be at least 1"
        if not 0 <= self.min_records <= self.max_records:
            yield "batch.min_records: must be between 0 and batch.max_records"
        yield from duration("batch.max_wait", self.max_wait)


@dataclass(frozen=True)
class RecordFormat:
    """The format of the records."""

    kind: Literal["json", "csv", "avro", "raw"] = "json"
    schema: dict[str, str] = field(default_factory=dict)
    """Column and Spark SQL type: {truck_id: string, lat: double}. For `json` and `csv`."""
    avro_schema: str = ""
    """For `avro`: a schema file, relative to the job's file; or the schema itself."""
    header: Literal["none", "confluent"] = "none"
    """For `avro`: `confluent` when records begin with a zero byte and a schema id of four bytes. These five bytes are
    skipped and no registry is asked: all records must be written with the schema given here.
    """
    options: dict[str, str] = field(default_factory=dict)
    """Further options of Spark's parser: {timestampFormat: ...}, {delimiter: ";"}."""
    unknown_fields: Literal["ignore", "reject"] = "ignore"
    """What to do with JSON fields that are not in the schema; `reject` parses each record a second time."""

    @property
    def names(self) -> list[str]:
        """The columns of a parsed record."""
        return avro.field_names(self.avro_schema) if self.kind == "avro" else list(self.schema)

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range or contradict each other."""
        if self.kind == "raw" and self.schema:
            yield "format.schema: raw records have no schema; remove it, or set kind: json"
        if self.kind in ("json", "csv") and not self.schema:
            yield f"format.schema: {self.kind} records need a schema, for example {{truck_id: string, lat: double}}"
        if self.unknown_fields == "reject" and self.kind != "json":
            yield "format.unknown_fields: reject is only possible with kind: json"
        yield from self._avro()
        yield from reserved("format.schema", self.names)
        for name, kind in self.schema.items():
            yield from (f"format.schema.{name}: {problem}" for problem in problems(kind))

    def _avro(self) -> Iterator[str]:
        if self.kind != "avro":
            for name, value in (("avro_schema", self.avro_schema), ("header", self.header.replace("none", ""))):
                if value:
                    yield f"format.{name}: only possible with kind: avro"
        elif self.schema:
            yield "format.schema: Avro records use format.avro_schema; remove this one"
        elif not self.avro_schema:
            yield "format.avro_schema: Avro records need a schema, for example truck.avsc"
        else:
            yield from (f"format.avro_schema: {problem}" for problem in avro.problems(self.avro_schema))


def reserved(where: str, names: Iterable[str]) -> Iterator[str]:
    """A finding for each column name that is reserved."""
    for name in names:
        if name.startswith("_"):
            yield f"{where}.{name}: names that begin with _ are reserved"


def duration(where: str, text: str) -> Iterator[str]:
    """A finding unless the text is a duration."""
    if not DURATION.fullmatch(text):
        yield f"{where}: {text} is not a duration; use 500ms, 10s, 5m, 2h or 1d"


def instant(where: str, text: str) -> Iterator[str]:
    """A finding unless the text is a valid timestamp."""
    try:
        datetime.fromisoformat(text)
    except ValueError as problem:
        yield f"{where}: {text} is not a timestamp: {problem}"


def interval(text: str) -> str:
    """A duration as a Spark interval: "10 seconds"."""
    units = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return f"{number} {units[unit]}"


def milliseconds(text: str) -> int:
    """A duration in milliseconds."""
    units = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return int(number) * units[unit]


def check_name(name: str) -> Iterator[str]:
    """A finding unless the job's name can be a folder name."""
    if not NAME.fullmatch(name):
        yield f"name: {name} is not valid; use a-z, 0-9, dots, dashes and underscores, at most 63 characters"
