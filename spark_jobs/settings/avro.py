"""Checks of an Avro record schema and its field names; without Spark and without an Avro library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spark_jobs.settings.reading import nearest

_PLAIN = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
_NAMED = {"record", "enum", "fixed"}


def with_inlined_schema(written: dict[str, Any], beside: Path) -> dict[str, Any]:
    """A parsed job file with the schema's text in place of its file name; OSError when that cannot be read."""
    form = written.get("format")
    name = form.get("avro_schema") if isinstance(form, dict) else None
    if not isinstance(form, dict) or not isinstance(name, str) or not name.strip() or name.lstrip().startswith("{"):
        return written
    return {**written, "format": {**form, "avro_schema": (beside / Path(name).expanduser()).read_text()}}


def field_names(schema: str) -> list[str]:
    """The field names of a valid schema; empty for an invalid one."""
    try:
        return [str(field["name"]) for field in json.loads(schema)["fields"]]
    except (ValueError, TypeError, KeyError):
        return []


def problems(schema: str) -> Iterator[str]:
    """Findings in a schema."""
    try:
        parsed = json.loads(schema)
    except ValueError as problem:
        yield f"is not JSON: {problem}"
        return
    if not isinstance(parsed, dict) or parsed.get("type") != "record":
        yield 'must be a record schema: {"type": "record", "name": ..., "fields": [...]}'
        return
    yield from _type(parsed, "", set())


def _type(schema: Any, where: str, known: set[str]) -> Iterator[str]:
    """Findings in a type of a schema; named types are known after their definition."""
    at = f"{where}: " if where else ""
    if isinstance(schema, list):
        for one in schema:
            yield from _type(one, where, known)
    elif isinstance(schema, str):
        if schema not in _PLAIN and schema not in known and schema.rpartition(".")[2] not in known:
            yield f"{at}{schema} is not an Avro type{nearest(schema, _PLAIN | known)}"
    elif not isinstance(schema, dict) or "type" not in schema:
        yield f"{at}needs a type"
    else:
        yield from _complex(schema, where, at, known)


def _complex(schema: dict[str, Any], where: str, at: str, known: set[str]) -> Iterator[str]:
    kind = schema["type"]
    if kind in ("array", "map"):
        yield from _type(schema.get("items" if kind == "array" else "values"), where, known)
        return
    if not isinstance(kind, str) or kind not in _NAMED:
        yield from _type(kind, where, known)
        return
    if not schema.get("name"):
        yield f"{at}{kind} needs a name"
    known.add(str(schema.get("name", "")).rpartition(".")[2])
    if kind == "record":
        yield from _fields(schema.get("fields"), where, at, known)


def _fields(fields: Any, where: str, at: str, known: set[str]) -> Iterator[str]:
    if not isinstance(fields, list) or not all(isinstance(one, dict) and one.get("name") for one in fields):
        yield f"{at}a record needs named fields"
        return
    for one in fields:
        yield from _type(one.get("type"), f"{where}.{one['name']}" if where else str(one["name"]), known)
