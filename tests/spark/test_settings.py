"""What a file of a job may say, and what is said about one that is wrong; without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from spark_jobs import settings

GOOD: dict[str, Any] = {"job": "ingest", "topics": ["t"], "format": {"schema": {"id": "string"}}}


def findings(**more: Any) -> list[str]:
    return settings.read({**GOOD, **more})[1]


def schema(kind: str) -> list[str]:
    return findings(format={"schema": {"x": kind}})


def test_a_small_file_is_enough() -> None:
    read, wrong = settings.read(GOOD)
    assert (wrong, read.batch.max_records, read.sink.compression) == ([], 5_000_000, "zstd")
    alerts, wrong = settings.read(
        {"job": "alerts", "topics": ["t"], "silent": {"after": "5m"}, "batch": {"max_wait": "1m"}}
    )
    assert (wrong, alerts.batch.max_records) == ([], 100_000)


@pytest.mark.parametrize(
    ("more", "finding"),
    [
        ({"job": "ingset"}, "job: unknown job ingset; did you mean ingest?"),
        ({"topcs": []}, "topcs: unknown key; did you mean topics?"),
        ({"sink": {"compresion": "zstd"}}, "sink.compresion: unknown key; did you mean compression?"),
        ({"sink": {"compression": "zst"}}, "sink.compression: zst is not a valid value; did you mean zstd?"),
        ({"topics": "t"}, "topics: must be a list with at least one entry"),
        ({"every": "10"}, "every: 10 is not a duration; use 500ms, 10s, 5m, 2h or 1d"),
        ({"batch": {"max_records": "many"}}, "batch.max_records: must be an integer, not 'many'"),
        ({"dead_letters": "t"}, "dead_letters: t is also in topics; name another topic"),
        (
            {"topics": ["a", "a.dead-letters"]},
            "dead_letters: a.dead-letters is also in topics; name another topic",
        ),
        ({"start": "2026-13-45"}, "start: 2026-13-45 is not a timestamp: month must be in 1..12"),
        ({"start": "noon"}, "start: noon is not earliest, latest or a timestamp such as 2026-11-18T06:00:00Z"),
        ({"every": 10}, "every: 10 is not a duration; use 500ms, 10s, 5m, 2h or 1d"),
        ({"every": ["10s"]}, "every: must be text, not ['10s']"),
        ({"sink": {"partition_by": ["day"]}}, "sink.partition_by: unknown column day; known: _date, id"),
        ({"columns": {"_x": "1"}}, "columns._x: names that begin with _ are reserved"),
        ({"columns": {"id": "1"}}, "columns.id: the schema already has this column"),
        ({"rules": {"empty": "true"}}, "rules.empty: this is a built-in reason; give the rule another name"),
        ({"kafka": {"group.id": "x"}}, "kafka.group.id: set by Spark, cannot be changed; remove it"),
    ],
)
def test_each_mistake_is_named_with_a_suggestion(more: dict[str, Any], finding: str) -> None:
    assert findings(**more) == [finding]


def test_what_yaml_takes_for_a_number_or_a_time_is_the_text_that_it_stands_for() -> None:
    written = """
job: ingest
topics: [2026]
start: 2026-11-18T06:00:00Z
format: {kind: csv, schema: {id: string}, options: {header: true}}
spark: {spark.cores.max: 1, spark.memory.fraction: 0.5}
"""
    read, wrong = settings.read(yaml.safe_load(written))
    assert (wrong, read.topics, read.start) == ([], ("2026",), "2026-11-18T06:00:00+00:00")
    assert read.format.options == {"header": "true"}
    assert read.spark == {"spark.cores.max": "1", "spark.memory.fraction": "0.5"}
    trucks = "{job: trucks, begin: 2026-11-18T06:00:00Z}"
    assert settings.read(yaml.safe_load(trucks))[0].begin == "2026-11-18T06:00:00+00:00"


def test_places_that_a_file_leaves_open_are_in_the_jobs_folder_when_kcluster_fills_in_none(tmp_path: Path) -> None:
    placed = settings.with_default_paths(settings.read(GOOD)[0], tmp_path)
    assert (placed.checkpoint, placed.sink.path) == (f"{tmp_path}/checkpoint", f"{tmp_path}/table")
    assert placed.dead_letters == "t.dead-letters"
    given = {"checkpoint": "hdfs://c", "sink": {"path": "hdfs://t"}, "dead_letters": "d"}
    told = settings.read({**GOOD, **given})[0]
    assert settings.with_default_paths(told, tmp_path) == told
    trucks = settings.read({"job": "trucks"})[0]
    assert settings.with_default_paths(trucks, tmp_path) == trucks


RECORD = '{"type":"record","name":"r","fields":[{"name":"id","type":"string"},{"name":"next","type":["null","r"]}]}'


def test_the_schema_of_avro_records_is_a_file_that_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "truck.avsc").write_text(RECORD)
    form = {"kind": "avro", "avro_schema": "truck.avsc"}
    read, wrong = settings.read({**GOOD, "format": form, "sink": {"partition_by": ["id"]}}, beside=tmp_path)
    assert (wrong, read.format.names, read.format.avro_schema) == ([], ["id", "next"], RECORD)
    assert findings(format={**form, "avro_schema": RECORD}) == []
    assert settings.read({**GOOD, "format": form}, beside=tmp_path / "no")[1][0].startswith(
        "format.avro_schema: cannot be read: [Errno 2]"
    )


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ('{"type":"strng"}', 'must be a record schema: {"type": "record", "name": ..., "fields": [...]}'),
        (RECORD.replace('"string"', '"strng"'), "id: strng is not an Avro type; did you mean string?"),
        (RECORD.replace('"string"', '{"type":"enum"}'), "id: enum needs a name"),
        (RECORD.replace('"string"', '{"type":"array"}'), "id: needs a type"),
        (RECORD.replace('"name":"id",', ""), "a record needs named fields"),
    ],
)
def test_an_invalid_avro_schema_is_a_finding(schema: str, problem: str) -> None:
    assert findings(format={"kind": "avro", "avro_schema": schema}) == [f"format.avro_schema: {problem}"]


@pytest.mark.parametrize(
    ("form", "finding"),
    [
        ({"kind": "avro"}, "format.avro_schema: Avro records need a schema, for example truck.avsc"),
        (
            {"kind": "avro", "avro_schema": RECORD, "schema": {"id": "string"}},
            "format.schema: Avro records use format.avro_schema; remove this one",
        ),
        ({"schema": {"id": "string"}, "header": "confluent"}, "format.header: only possible with kind: avro"),
        (
            {"kind": "avro", "avro_schema": RECORD.replace("id", "_id")},
            "format.schema._id: names that begin with _ are reserved",
        ),
    ],
)
def test_what_avro_needs_is_for_avro_only(form: dict[str, Any], finding: str) -> None:
    assert findings(format=form) == [finding]


@pytest.mark.parametrize(
    "kind",
    [
        "string", "INT", "bigint", "long", "double", "timestamp", "timestamp_ntz", "decimal(10,2)", "decimal", "binary",
        "array<string>", "struct<lat: double, lon:double>", "map<string, array<int>>", "struct<`a b`:int>", "date",
        "array<struct<a:decimal(3, 1),b:map<string,int>>>", "varchar(10)", "boolean",
    ],
)  # fmt: skip
def test_spark_knows_these_types(kind: str) -> None:
    assert schema(kind) == []


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("strng", "strng is not a Spark type; did you mean string?"),
        ("array<doubel>", "doubel is not a Spark type; did you mean double?"),
        ("struct<a: int", "struct<a: int is incomplete: > is missing"),
        ("map<string>", "map<string> needs a key type and a value type: map<string, int>"),
        ("struct<int>", "int is not a field; use struct<name: type>"),
        ("decimal(50,2)", "decimal(50,2) is out of range: 1 to 38 digits"),
        ("decimal(2,5)", "decimal(2,5) has a scale larger than its precision"),
        ("int)", "int) is not a Spark type; did you mean int?"),
        ("map<struct<a:int>,int>", "keys of a JSON map must be string, not struct<a:int>"),
    ],
)
def test_an_unknown_type_is_a_finding_with_a_suggestion(kind: str, problem: str) -> None:
    assert schema(kind) == [f"format.schema.x: {problem}"]
