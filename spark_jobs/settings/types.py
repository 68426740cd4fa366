"""Checks of Spark SQL column types, without Spark."""

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
    """Findings in a type."""
    kind = kind.strip()
    name = kind.lower()
    opened, _, inner = kind.partition("<")
    if opened.strip().lower() in NESTED and inner:
        yield from _nested(opened.strip().lower(), kind, inner)
    elif decimal := _DECIMAL.fullmatch(name):
        yield from _decimal(kind, int(decimal[1]), int(decimal[2] or 0))
    elif name not in PLAIN and not _SIZED.fullmatch(name):
        yield f"{kind or 'an empty type'} is not a Spark type{nearest(name, {*PLAIN, *NESTED})}"


def _nested(outer: str, kind: str, inner: str) -> Iterator[str]:
    if not inner.endswith(">"):
        yield f"{kind} is incomplete: > is missing"
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
        yield f"{kind} needs a key type and a value type: map<string, int>"
    elif parts[0].strip().lower() != "string":
        yield f"keys of a JSON map must be string, not {parts[0].strip()}"
    else:
        yield from problems(parts[1])


def _field(part: str) -> Iterator[str]:
    field = _FIELD.fullmatch(part)
    if field is None:
        yield f"{part.strip() or 'an empty field'} is not a field; use struct<name: type>"
    else:
        yield from problems(field[2])


def _decimal(kind: str, digits: int, behind: int) -> Iterator[str]:
    if not 1 <= digits <= 38:
        yield f"{kind} is out of range: 1 to 38 digits"
    elif behind > digits:
        yield f"{kind} has a scale larger than its precision"


def _parts(inner: str) -> list[str]:
    """The text between the outermost commas."""
    depth, parts = 0, [""]
    for character in inner:
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
