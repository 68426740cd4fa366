"""From a record's bytes to columns: one parser call for each record, which also detects records that are not complete.

Spark's parsers stop after the first value and ignore what follows. So a record is wrapped before it is parsed, as a
field of a JSON object or an Avro record, followed by a mark that must be found again. CSV has no mark: there a record
is one line, except for line breaks in quotes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from pyspark.sql import functions as sql

if TYPE_CHECKING:
    from pyspark.sql import Column

    from spark_jobs.settings.common import RecordFormat

PARSED = "_parsed"
"""The column with the parsed record, which the functions below read."""

_CORRUPT, _RECORD, _MARK = "_corrupt", "record", "mark"
_NUMBER, _BYTES = 4127906831, b"\xe7\x0b\x91\x5d\x2c\xf3\x68\xa4"
"""The marks of JSON and Avro: values that do not occur by chance."""


def parse(form: RecordFormat) -> Column:
    """The expression of the column `_parsed`: the only call of a parser."""
    text = sql.col("value").cast("string")
    options = {**form.options, "mode": "PERMISSIVE"}
    corrupt = {"columnNameOfCorruptRecord": _CORRUPT}
    if form.kind == "csv":
        return sql.from_csv(_line(text, form.options), f"{_columns(form)}, {_CORRUPT} string", {**options, **corrupt})
    if form.kind == "avro":
        from pyspark.sql.avro.functions import from_avro

        marked = sql.concat(_payload(form), sql.lit(_BYTES))
        return from_avro(marked, _wrapped(form.avro_schema), options)
    schema = f"{_RECORD} struct<{_columns(form)}>, {_MARK} bigint, {_CORRUPT} string"
    whole = sql.concat(sql.lit(f'{{"{_RECORD}":'), text, sql.lit(f'\n,"{_MARK}":{_NUMBER}}}'))
    return sql.from_json(whole, schema, {**options, **corrupt})


def field(form: RecordFormat, name: str) -> Column:
    """The expression of a field of the parsed record."""
    return _record(form).getField(name).alias(name)


def unreadable(form: RecordFormat) -> Column:
    """The expression that is true for a value that is not exactly one complete record."""
    # Blanks and `null` are not records, but Spark does not report them as corrupt.
    problems = [_record(form).isNull()]
    if form.kind != "avro":
        problems.append(sql.col(PARSED).getField(_CORRUPT).isNotNull())
    if form.kind != "csv":
        mark = _BYTES if form.kind == "avro" else _NUMBER
        problems.append(~sql.coalesce(sql.col(PARSED).getField(_MARK) == sql.lit(mark), sql.lit(False)))
    return reduce(or_, problems)


def _record(form: RecordFormat) -> Column:
    return sql.col(PARSED) if form.kind == "csv" else sql.col(PARSED).getField(_RECORD)


def _columns(form: RecordFormat) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in form.schema.items())


def _line(text: Column, options: Mapping[str, str]) -> Column:
    """The text without one trailing line break; null when it is empty or has more than one line.

    Spark's CSV parser would keep the rest of several lines and prepend it to the next record of its task. A line break
    in a quoted field does not end a line.
    """
    known = {name.lower(): value for name, value in options.items()}
    between, quote = known.get("sep", known.get("delimiter", ",")), known.get("quote", '"')
    quoted = rf"(\A|\Q{between}\E)\Q{quote}\E(\\[\s\S]|(?!\Q{quote}\E)[^\\])*\Q{quote}\E"
    line = sql.regexp_replace(text, r"(\r\n|\n|\r)\z", "")
    bare = sql.regexp_replace(line, quoted, "$1") if quote else line
    return sql.when(bare.rlike(r"\A[^\r\n]*\z") & (line != ""), line)


def _payload(form: RecordFormat) -> Column:
    """The record without its header: a zero byte and a schema id of four bytes."""
    if form.header == "none":
        return sql.col("value")
    return sql.expr("case when substring(value, 1, 1) = X'00' and length(value) >= 5 then substring(value, 6) end")


def _wrapped(schema: str) -> str:
    """The schema of the wrapper: the record, then the mark."""
    mark = {"type": "fixed", "name": "kcluster_mark", "size": len(_BYTES)}
    fields = [{"name": _RECORD, "type": json.loads(schema)}, {"name": _MARK, "type": mark}]
    return json.dumps({"type": "record", "name": "kcluster_record", "fields": fields})
