"""What becomes a row and what a dead letter, on frames shaped as Spark reads them from Kafka."""

from __future__ import annotations

import json
import struct
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as sql

from spark_jobs.records import transform
from spark_jobs.settings import alerts
from spark_jobs.settings.common import RecordFormat
from spark_jobs.settings.ingest import IngestSettings, SinkSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
TRUCK = {"id": "string", "lat": "double", "n": "int", "at": "timestamp"}


def settings(schema: dict[str, str] | None = None, kind: Any = "json", **more: Any) -> IngestSettings:
    form = {name: more.pop(name) for name in ("options", "unknown_fields", "avro_schema", "header") if name in more}
    return IngestSettings(
        "ingest", ("t",), format=RecordFormat(kind, TRUCK if schema is None else schema, **form), **more
    )


def kafka(spark: SparkSession, *values: bytes | str | None) -> DataFrame:
    """Records of one partition with these values, as Spark's source delivers them."""
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    return spark.createDataFrame(
        [(b"k", value, "t", 3, 40 + n, NOON, 0) for n, value in enumerate(raw)], transform.KAFKA_COLUMNS
    )


def reasons(spark: SparkSession, settings: IngestSettings, *values: bytes | str | None) -> list[str | None]:
    judged = transform.with_reasons(kafka(spark, *values), settings)
    # Only that: Python has no name for some times that a record may tell.
    return [row["_reason"] for row in judged.orderBy("_offset").select("_reason").collect()]


def rows(spark: SparkSession, settings: IngestSettings, *values: bytes | str | None) -> list[Row]:
    return transform.rows(transform.with_reasons(kafka(spark, *values), settings)).orderBy("_offset").collect()


def test_each_trap_of_the_json_parser_is_a_reason(spark: SparkSession) -> None:
    traps = {
        '{"id":"a","lat":1.5,"n":1,"at":"2026-11-18T12:00:00Z"}': None,
        None: "empty",
        "": "empty",
        "   ": "unreadable",
        "null": "unreadable",
        '{"id":"a","lat":1': "unreadable",
        '{"id":"a"} garbage': "unreadable",
        '{"id":"a"}{"id":"b"}': "unreadable",
        '{"id":"a"}\n{"id":"b"}': "unreadable",
        '{"id":"a"},{"id":"b"}': "unreadable",
        '{"id":"a"}}': "unreadable",
        ' {"id":"a"} \n': None,
        '[{"id":"a"}]': "unreadable",
        "42": "unreadable",
        '"text"': "unreadable",
        '{"id":"a","lat":"40.5"}': "unreadable",  # a text where a number belongs
        '{"id":"a","n":1.5}': "unreadable",
        '{"id":"a","n":3000000000}': "unreadable",
        '{"id":"a","at":"yesterday"}': "unreadable",
        '{"id":"a","lat":NaN}': "no_number",
        '{"id":"a","lat":"Infinity"}': "no_number",
        '{"id":"a","lat":1e400}': "no_number",
        b'{"id":"a\xff"}': "not_utf8",
        b"\x00\x01\x02": "unreadable",
        "{}": None,  # a missing field is null; a rule says whether it may
        '{"id":"a","lat":null}': None,
        '{"id":"a","more":1}': None,  # unless unknown fields are to be rejected
    }
    assert dict(zip(traps, reasons(spark, settings(), *traps), strict=True)) == traps


def test_a_record_that_breaks_a_rule_tells_the_first_one_and_null_breaks_it(spark: SparkSession) -> None:
    told = settings(rules={"no_truck": "id is not null", "bad_position": "lat between -90 and 90"})
    values = ('{"id":"a","lat":91}', '{"lat":91}', '{"id":"a"}', '{"id":"a","lat":-90}')
    assert reasons(spark, told, *values) == ["bad_position", "no_truck", "bad_position", None]


def test_unknown_fields_are_a_reason_when_the_file_says_so(spark: SparkSession) -> None:
    told = settings(unknown_fields="reject")
    values = ('{"id":"a","speed":1,"lat":2}', '{"id":"a","lat":2}', '{"ID":"a"}', "{}", "{oops")
    assert reasons(spark, told, *values) == ["unknown_fields", None, "unknown_fields", None, "unreadable"]


def test_a_row_has_its_columns_and_where_it_came_from(spark: SparkSession) -> None:
    told = settings(columns={"day": "to_date(at)", "twice": "n * 2"}, sink=SinkSettings(partition_by=("_date",)))
    (row,) = rows(spark, told, "{bad", '{"id":"a","lat":1.5,"n":7,"at":"2026-11-17T23:00:00Z"}')
    coordinates = {"_topic": "t", "_partition": 3, "_offset": 41, "_timestamp": NOON.replace(tzinfo=None)}
    written = {"id": "a", "lat": 1.5, "n": 7, "at": datetime(2026, 11, 17, 23), "day": date(2026, 11, 17), "twice": 14}
    found = row.asDict()
    for name in ("at", "_timestamp"):  # Python shows them in this machine's time zone
        found[name] = found[name].astimezone(UTC).replace(tzinfo=None)
    assert found == written | coordinates | {"_date": date(2026, 11, 18)}


def test_a_value_that_an_expression_cannot_take_becomes_null_which_a_rule_can_see(spark: SparkSession) -> None:
    wild = {"day": "to_date(id)", "number": "cast(id as int)", "part": "n / 0", "at_2": "array(n)[2]"}
    told = settings(columns=wild, rules={"no_day": "id = 'a' or day is not null"})
    (row,) = rows(spark, told, '{"id":"a","n":7}', '{"id":"b","n":7}')
    assert [row[name] for name in wild] == [None] * 4
    assert reasons(spark, told, '{"id":"a"}', '{"id":"b"}', '{"id":"2026-11-18"}') == [None, "no_day", None]


def test_a_time_that_no_clock_of_a_truck_tells_is_none_for_alerts(spark: SparkSession) -> None:
    times = {
        "0001-01-01T00:00:00+01:00": "no_time",  # in the year 0, which Python has no name for
        "1969-12-31T23:59:59Z": "no_time",
        "1970-01-01T00:00:00Z": None,
        "2025-11-18T11:59:00Z": None,
        "2026-11-18T12:02:00Z": "clock_ahead",
    }
    values = [json.dumps({"truck_id": "t", "lat": 1.5, "lon": 2.5, "time": time}) for time in times]
    asked = alerts.AlertsSettings("alerts", ("t",), silent=alerts.Silent())
    told = reasons(spark, asked.reading(), *values, '{"truck_id":"t","lat":1.5,"lon":2.5}')
    assert told == [*times.values(), "no_time"]


def test_the_time_of_a_dead_letter_is_text_in_utc_however_far_off_it_is(spark: SparkSession) -> None:
    microseconds = 1_790_000_000_000_000  # which a producer wrote where milliseconds belong
    frame = kafka(spark, "{bad").withColumn("timestamp", sql.timestamp_millis(sql.lit(microseconds)))
    both = transform.dead_letters(transform.with_reasons(frame.unionAll(kafka(spark, "{bad")), settings()))
    found = [row["_timestamp"] for row in transform.with_text_timestamps(both).collect()]
    assert found == ["+58692-11-03T14:13:20.000Z", "2026-11-18T12:00:00.000Z"]


def test_a_dead_letter_is_the_very_bytes(spark: SparkSession) -> None:
    judged = transform.with_reasons(kafka(spark, b"\xff\x00{", "{}"), settings(rules={"no_truck": "id is not null"}))
    letters = transform.dead_letters(judged).orderBy("_offset").collect()
    told = [(each["_reason"], each["_key"], each["_value"], each["_offset"]) for each in letters]
    assert told == [("not_utf8", b"k", b"\xff\x00{", 40), ("no_truck", b"k", b"{}", 41)]


def test_csv_and_raw_records_are_judged_too(spark: SparkSession) -> None:
    csv = settings({"id": "string", "lat": "double"}, "csv", options={"delimiter": ";"})
    values = ("a;1.5", "a;x", "a;1;2", "a", "", None, "a;NaN")
    expected = [None, "unreadable", "unreadable", "unreadable", "empty", "empty", "no_number"]
    assert reasons(spark, csv, *values) == expected
    raw = settings({}, "raw", rules={"short": "length(value) < 3"})
    assert reasons(spark, raw, b"\xff", None, "long") == [None, "short", "short"]
    (row,) = rows(spark, raw, b"\xff", None)
    assert (row["key"], row["value"], row["_offset"]) == (b"k", b"\xff", 40)


def test_a_csv_record_of_several_lines_is_unreadable_and_leaves_the_next_one_as_it_is(spark: SparkSession) -> None:
    csv = settings({"id": "string", "n": "int"}, "csv")
    values = ("a,1\nb,2", "c,3\r\n", "d,4\r", "e,5\n\n", "f,6\n", "g,7\rh,8\n", "\n", '"i\nj",9', "k,10")
    judged = transform.with_reasons(kafka(spark, *values).coalesce(1), csv)  # one parser for all of them
    told = [row["_reason"] or (row["id"], row["n"]) for row in judged.orderBy("_offset").collect()]
    no = "unreadable"
    assert told == [no, ("c", 3), ("d", 4), no, ("f", 6), no, no, ("i\nj", 9), ("k", 10)]
    piped = settings({"id": "string", "n": "int"}, "csv", options={"sep": "|", "quote": "'"})
    values = ("a|1", "'b\nc'|2", '"d\ne"|3', "'f\\'\ng'|4", "h'\ni'|5", "j|6")
    judged = transform.with_reasons(kafka(spark, *values).coalesce(1), piped)
    told = [row["_reason"] or (row["id"], row["n"]) for row in judged.orderBy("_offset").collect()]
    assert told == [("a", 1), ("b\nc", 2), no, ("f'\ng", 4), no, ("j", 6)]


SCHEMA = {
    "type": "record",
    "name": "truck",
    "namespace": "fleet",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "lat", "type": ["null", "double"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "kind", "type": {"type": "enum", "name": "kind", "symbols": ["VAN", "LORRY"]}},
    ],
}
PLAIN = b"\x06abc" + b"\x02" + struct.pack("<d", 1.5) + b"\xd0\x0f" + b"\x02"
"""A record as its schema says: a length and letters, which of the two types and a double, 1000 ms, the second name."""


def test_avro_records_are_read_whole_or_not_at_all(spark: SparkSession) -> None:
    told = settings({}, "avro", avro_schema=json.dumps(SCHEMA), rules={"no_place": "lat is not null"})
    no_place = b"\x02a\x00\x00\x00"
    traps = {
        PLAIN: None,
        PLAIN + b"x": "unreadable",
        PLAIN + PLAIN: "unreadable",
        PLAIN[:-1]: "unreadable",
        b"": "empty",
        None: "empty",
        b"\xfe\xff\xff\xff\x0fabc": "unreadable",  # a text of two gigabytes
        PLAIN[:-1] + b"\x08": "unreadable",  # the fifth of two names
        b'{"id":"abc"}': "unreadable",
        no_place: "no_place",
    }
    assert dict(zip(traps, reasons(spark, told, *traps), strict=True)) == traps
    (row,) = rows(spark, told, PLAIN, no_place)
    assert (row["id"], row["lat"], row["at"].timestamp(), row["kind"]) == ("abc", 1.5, 1.0, "LORRY")


def test_the_header_of_a_schema_registry_is_passed_over_when_the_file_says_so(spark: SparkSession) -> None:
    told = settings({}, "avro", avro_schema=json.dumps(SCHEMA), header="confluent")
    head = b"\x00\x00\x00\x00\x07"
    traps = {
        head + PLAIN: None,
        PLAIN: "unreadable",
        head: "unreadable",
        head[:3]: "unreadable",
        head + b"\x02": "unreadable",
    }
    assert dict(zip(traps, reasons(spark, told, *traps), strict=True)) == traps
    without = settings({}, "avro", avro_schema=json.dumps(SCHEMA))
    assert reasons(spark, without, head + PLAIN) == ["unreadable"]


def test_nested_columns_and_names_with_dots_are_read(spark: SparkSession) -> None:
    told = settings({"a.b": "double", "at": "struct<lat: double, tags: array<string>>", "m": "map<string,int>"})
    (row,) = rows(spark, told, '{"a.b":1,"at":{"lat":2,"tags":["x"]},"m":{"k":3}}')
    assert (row["a.b"], row["at"]["lat"], row["at"]["tags"], row["m"]) == (1.0, 2.0, ["x"], {"k": 3})


@pytest.mark.parametrize("half", [transform.rows, transform.dead_letters])
@pytest.mark.parametrize("unknown", ["ignore", "reject"])
def test_a_record_is_parsed_once(spark: SparkSession, half: Any, unknown: str) -> None:
    rules = {"bad_position": "lat between -90 and 90", "no_truck": "length(id) > 0"}
    told = settings(rules=rules, columns={"day": "to_date(at)"}, unknown_fields=unknown)
    source = spark.range(5).selectExpr(  # not values of the test's own: Spark would compute with those while it plans
        "binary('k') as key",
        "binary(string(id)) as value",
        "'t' as topic",
        "1 as partition",
        "id as offset",
        "current_timestamp() as timestamp",
        "0 as timestampType",
    )
    plan = half(transform.with_reasons(source, told))._jdf.queryExecution().executedPlan().toString()
    assert plan.count("from_json(") == 1, plan
