"""Whether a column's type is one of Spark's; without Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_jobs.settings.reading import nearest

_NUMBERS = {"byte", "tinyint", "short", "smallint", "int", "integer", "long", "bigint", "float", "real", "double"}
_TIMES = {"date", "timestamp", "timestamp_ntz", "timestamp_ltz"}
PLAIN = _NUMBERS | _TIMES | {"string", "boolean", "binary", "decimal", "dec", "numeric", "variant"}
NESTED = ("array", "map", "struct")
_SIZED = re.compile(r"(char|character|varchar)\s*\(\s*\d+\s*\)")
_DECIMAL = re.compile(r"(?:decimal|dec|numeric)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_FIELD = re.compile(r"\s*(`[^`]+`|\w+)\s*(?::|\s)\s*(\S.*)", re.S)


def problems(kind: str) -> Iterator[str]:
    """What is wrong with a type."""
    kind = kind.strip()
    word = kind.lower()
    opened, _, inner = kind.partition("<")
    if opened.strip().lower() in NESTED and inner:
        yield from _nested(opened.strip().lower(), kind, inner)
    elif decimal := _DECIMAL.fullmatch(word):
        yield from _decimal(kind, int(decimal[1]), int(decimal[2] or 0))
    elif word not in PLAIN and not _SIZED.fullmatch(word):
        yield f"{kind or 'nothing'} is no type of Spark{nearest(word, {*PLAIN, *NESTED})}"


def _nested(outer: str, kind: str, inner: str) -> Iterator[str]:
    if not inner.endswith(">"):
        yield f"{kind} is not complete: > is missing"
        return
    parts = _parts(inner[:-1])
    if outer == "array":
        yield from problems(inner[:-1])
    elif outer == "map":
        yield from _map(kind, parts)
    else:
        for part in parts:
            yield from _field(part)


def _map(kind: str, parts: list[str]) -> Iterator[str]:
    if len(parts) != 2:
        yield f"{kind} needs a key's and a value's type: map<string, int>"
    elif parts[0].strip().lower() != "string":
        yield f"the keys of a JSON map are string, not {parts[0].strip()}"
    else:
        yield from problems(parts[1])


def _field(part: str) -> Iterator[str]:
    field = _FIELD.fullmatch(part)
    if field is None:
        yield f"{part.strip() or 'nothing'} is no field; write struct<name: type>"
    else:
        yield from problems(field[2])


def _decimal(kind: str, digits: int, behind: int) -> Iterator[str]:
    if not 1 <= digits <= 38:
        yield f"{kind} has at most 38 digits"
    elif behind > digits:
        yield f"{kind} has more digits behind the point than digits"


def _parts(inner: str) -> list[str]:
    """What stands between the outermost commas."""
    depth, parts = 0, [""]
    for letter in inner:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
