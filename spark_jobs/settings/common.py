"""What the files of several jobs say in the same words."""

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
"""Why a record is a dead letter before any rule of the job's file is asked."""
DURATION = re.compile(r"\d+(ms|s|m|h|d)")


@dataclass(frozen=True)
class Batch:
    """How much one batch takes: the limits that keep what is done again small, and files large."""

    max_records: int = 5_000_000
    """Of a job that is behind: more are not faster, and all of it is read again when the driver dies in the middle."""
    min_records: int = 0
    """Wait for that many, so that a quiet topic does not become a thousand small files, ..."""
    max_wait: str = "15m"
    """... but not longer than this."""

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        if self.max_records < 1:
            yield "batch.max_records: must be at least 1"
        if not 0 <= self.min_records <= self.max_records:
            yield "batch.min_records: must be between 0 and batch.max_records"
        yield from duration("batch.max_wait", self.max_wait)


@dataclass(frozen=True)
class RecordFormat:
    """What the records are."""

    kind: Literal["json", "csv", "avro", "raw"] = "json"
    schema: dict[str, str] = field(default_factory=dict)
    """Column and type, in Spark's words: {truck_id: string, lat: double}. For `json` and `csv`."""
    avro_schema: str = ""
    """For `avro`: the file with the schema, from the folder of the job's file; or the schema itself."""
    header: Literal["none", "confluent"] = "none"
    """For `avro`: `confluent` when records begin with a zero byte and the number of their schema in a registry. These
    five bytes are passed over and nobody asks the registry: all records must be written with the schema that is here.
    """
    options: dict[str, str] = field(default_factory=dict)
    """Further options of Spark's parser: {timestampFormat: ...}, {delimiter: ";"}."""
    unknown_fields: Literal["ignore", "reject"] = "ignore"
    """What to do about a JSON field that the schema does not name; `reject` costs a second look at each record."""

    @property
    def names(self) -> list[str]:
        """The columns that a record has."""
        return avro.field_names(self.avro_schema) if self.kind == "avro" else list(self.schema)

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        if self.kind == "raw" and self.schema:
            yield "format.schema: raw records have no schema; remove it, or say kind: json"
        if self.kind in ("json", "csv") and not self.schema:
            yield f"format.schema: {self.kind} records need one, for example {{truck_id: string, lat: double}}"
        if self.unknown_fields == "reject" and self.kind != "json":
            yield "format.unknown_fields: only JSON records have names that could be unknown"
        yield from self._avro()
        yield from reserved("format.schema", self.names)
        for name, kind in self.schema.items():
            yield from (f"format.schema.{name}: {problem}" for problem in problems(kind))

    def _avro(self) -> Iterator[str]:
        if self.kind != "avro":
            for name, value in (("avro_schema", self.avro_schema), ("header", self.header.replace("none", ""))):
                if value:
                    yield f"format.{name}: only for kind: avro"
        elif self.schema:
            yield "format.schema: Avro records have theirs in format.avro_schema; remove this one"
        elif not self.avro_schema:
            yield "format.avro_schema: avro records need one, for example truck.avsc"
        else:
            yield from (f"format.avro_schema: {problem}" for problem in avro.problems(self.avro_schema))


def reserved(where: str, names: Iterable[str]) -> Iterator[str]:
    """Names of columns that the job needs for itself."""
    for name in names:
        if name.startswith("_"):
            yield f"{where}.{name}: names that begin with _ are the job's own"


def duration(where: str, text: str) -> Iterator[str]:
    """Whether a text is a duration."""
    if not DURATION.fullmatch(text):
        yield f"{where}: {text} is no duration; write 500ms, 10s, 5m, 2h or 1d"


def instant(where: str, text: str) -> Iterator[str]:
    """Whether a text that looks like an instant is one."""
    try:
        datetime.fromisoformat(text)
    except ValueError as problem:
        yield f"{where}: {text} is no instant: {problem}"


def interval(text: str) -> str:
    """A duration in Spark's words."""
    units = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return f"{number} {units[unit]}"


def milliseconds(text: str) -> int:
    """How long a duration is."""
    units = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return int(number) * units[unit]


def check_name(name: str) -> Iterator[str]:
    """Whether a job's name can be a folder's."""
    if not NAME.fullmatch(name):
        yield f"name: {name} is not possible; use a-z, 0-9, dots, dashes and underscores, at most 63"
