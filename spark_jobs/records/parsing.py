"""A record's bytes as columns: each parser called once, and told apart what it read whole from what it did not.

Spark's parsers stop behind the first value and say nothing of what follows. So a record is wrapped before it is parsed,
as a field of an object in JSON, of a record in Avro, with a mark behind it that must be found there. CSV takes no mark:
there a record is one line, but for what stands in quotes.
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
"""The column that the functions below look into."""

_CORRUPT, _RECORD, _MARK = "_corrupt", "record", "mark"
_NUMBER, _BYTES = 4127906831, b"\xe7\x0b\x91\x5d\x2c\xf3\x68\xa4"
"""The marks of JSON and of Avro: nobody writes them by chance."""


def parse(form: RecordFormat) -> Column:
    """What becomes `_parsed`: the only call of a parser."""
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
    """A field of the record."""
    return _record(form).getField(name).alias(name)


def unreadable(form: RecordFormat) -> Column:
    """Whether the record is none, or not whole, or not all there is."""
    # Blanks and `null` are no record, and nothing that Spark calls corrupt.
    flaws = [_record(form).isNull()]
    if form.kind != "avro":
        flaws.append(sql.col(PARSED).getField(_CORRUPT).isNotNull())
    if form.kind != "csv":
        mark = _BYTES if form.kind == "avro" else _NUMBER
        flaws.append(~sql.coalesce(sql.col(PARSED).getField(_MARK) == sql.lit(mark), sql.lit(False)))
    return reduce(or_, flaws)


def _record(form: RecordFormat) -> Column:
    return sql.col(PARSED) if form.kind == "csv" else sql.col(PARSED).getField(_RECORD)


def _columns(form: RecordFormat) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in form.schema.items())


def _line(text: Column, options: Mapping[str, str]) -> Column:
    """The text without one line break at its end; null when nothing is left, or more than one line.

    Of several lines Spark's parser of CSV keeps what it has not read, and puts it before the next record of its task.
    A break in a field in quotes ends no line.
    """
    known = {name.lower(): value for name, value in options.items()}
    between, quote = known.get("sep", known.get("delimiter", ",")), known.get("quote", '"')
    quoted = rf"(\A|\Q{between}\E)\Q{quote}\E(\\[\s\S]|(?!\Q{quote}\E)[^\\])*\Q{quote}\E"
    line = sql.regexp_replace(text, r"(\r\n|\n|\r)\z", "")
    bare = sql.regexp_replace(line, quoted, "$1") if quote else line
    return sql.when(bare.rlike(r"\A[^\r\n]*\z") & (line != ""), line)


def _payload(form: RecordFormat) -> Column:
    """The record without what stands before it: a zero byte and the four of the schema's number."""
    if form.header == "none":
        return sql.col("value")
    return sql.expr("case when substring(value, 1, 1) = X'00' and length(value) >= 5 then substring(value, 6) end")


def _wrapped(schema: str) -> str:
    """A record of the schema's, and the mark."""
    mark = {"type": "fixed", "name": "kcluster_mark", "size": len(_BYTES)}
    fields = [{"name": _RECORD, "type": json.loads(schema)}, {"name": _MARK, "type": mark}]
    return json.dumps({"type": "record", "name": "kcluster_record", "fields": fields})
