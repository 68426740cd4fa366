"""A record: what a topic holds, its lossless JSON line, and the ways to show it to people."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Header = tuple[str, bytes | None]


class RecordError(ValueError):
    """A line that is not a record; the text says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record. None and empty bytes are different: a value of None is a tombstone."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    partition: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    """Milliseconds since 1970."""


FIELDS = ("key", "value", "partition", "offset", "timestamp", "headers")
"""The fields of the JSON form; `key` and `value` (also of a header) may be `key_base64` and `value_base64`."""

_KNOWN = {*FIELDS, "key_base64", "value_base64"}
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(record: Record) -> bytes:
    """The record as one JSON line, without the line end. Nothing is lost: bytes that are not text become base64."""
    fields = {**_spelled("key", record.key), **_spelled("value", record.value)}
    fields |= {"partition": record.partition, "offset": record.offset, "timestamp": record.timestamp}
    fields["headers"] = [{"key": name, **_spelled("value", value)} for name, value in record.headers]
    return _ENCODE(fields).encode()


def from_json(line: bytes) -> Record:
    """The record that a JSON line describes; `value` is the one field it must have."""
    fields = _object(line)
    unknown = sorted(set(fields) - _KNOWN)
    if unknown:
        raise RecordError(f"unknown field `{unknown[0]}`: use {', '.join(FIELDS)}")
    if "value" not in fields and "value_base64" not in fields:
        raise RecordError("it has no `value`; write null for a tombstone")
    return Record(
        value=_bytes(fields, "value"),
        key=_bytes(fields, "key"),
        headers=_headers(fields.get("headers")),
        partition=_number(fields, "partition"),
        offset=_number(fields, "offset"),
        timestamp=_number(fields, "timestamp"),
    )


def _spelled(name: str, value: bytes | None) -> dict[str, Any]:
    if value is None:
        return {name: None}
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode()}


def _object(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except UnicodeDecodeError as problem:
        raise RecordError("it is not UTF-8 text") from problem
    except json.JSONDecodeError as problem:
        raise RecordError(f"it is not JSON: {problem.msg} at column {problem.colno}") from problem
    except RecursionError as problem:
        raise RecordError("its JSON is nested too deeply") from problem
    if not isinstance(fields, dict):
        raise RecordError(f"it is not a JSON object but {_kind(fields)}")
    return fields


def _bytes(fields: dict[str, Any], name: str) -> bytes | None:
    """The bytes of `name` or `name_base64`; both at once are a contradiction."""
    coded = f"{name}_base64"
    if name in fields and coded in fields:
        raise RecordError(f"it has both `{name}` and `{coded}`")
    value = fields.get(coded, fields.get(name))
    if value is None:
        return None
    if not isinstance(value, str):
        raise RecordError(f"`{name}` must be a string or null, not {_kind(value)}")
    try:
        return base64.b64decode(value, validate=True) if coded in fields else value.encode()
    except UnicodeEncodeError as problem:
        raise RecordError(f"`{name}` has half of a surrogate pair and is not valid text") from problem
    except ValueError as problem:
        raise RecordError(f"`{coded}` is not base64") from problem


def _headers(value: Any) -> tuple[Header, ...]:
    if value is None:
        return ()
    if isinstance(value, dict):
        value = [{"key": name, "value": text} for name, text in value.items()]
    if not isinstance(value, list) or not all(isinstance(header, dict) for header in value):
        raise RecordError('`headers` must be a list of {"key": ..., "value": ...}')
    return tuple(_header(header) for header in value)


def _header(fields: dict[str, Any]) -> Header:
    if not isinstance(fields.get("key"), str):
        raise RecordError("a header's `key` must be a string")
    if "\0" in fields["key"]:
        raise RecordError("a header's `key` must not contain a zero byte")
    _bytes(fields, "key")
    return fields["key"], _bytes(fields, "value")


def _number(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise RecordError(f"`{name}` must be a whole number, not {_kind(value)}")
    if not 0 <= value < (2**31 if name == "partition" else 2**63):
        raise RecordError(f"`{name}` must not be negative" if value < 0 else f"`{name}` is too large")
    return value


def _kind(value: Any) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        type(None): "null",
        float: "a fraction",
    }
    return kinds.get(type(value), "a number")


RecordFormatter = Callable[[Record], bytes]

COLUMNS = {"timestamp": "%T", "partition": "%p", "offset": "%o", "headers": "%h", "key": "%k"}
"""What can be shown beside the value, in the order it is shown, and how a template spells it."""

_PLACES: dict[str, RecordFormatter] = {
    "v": lambda record: _text(record.value),
    "k": lambda record: _text(record.key),
    "p": lambda record: _text(record.partition),
    "o": lambda record: _text(record.offset),
    "T": lambda record: _text(record.timestamp),
    "h": lambda record: b",".join(name.encode() + b"=" + _text(value) for name, value in record.headers),
}
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}
_SPECIAL = re.compile(r"%(?P<place>.?)|\\(?P<escape>.?)", re.DOTALL)


def columns(names: Sequence[str]) -> str:
    """The template that shows these columns before the value, separated by tabs."""
    return "\\t".join([*(COLUMNS[name] for name in names), "%v"])


def template(text: str) -> RecordFormatter:
    """The function that shows a record as the template says; a line end is added when there is none."""
    parts: list[bytes | RecordFormatter] = []
    end = 0
    for match in _SPECIAL.finditer(text):
        parts += [text[end : match.start()].encode(), _part(match)]
        end = match.end()
    parts.append(text[end:].encode())
    kept = [part for part in parts if part != b""]
    if not kept or not (isinstance(kept[-1], bytes) and kept[-1].endswith((b"\n", b"\0"))):
        kept.append(b"\n")
    return lambda record: b"".join(part if isinstance(part, bytes) else part(record) for part in kept)


def unescaped(text: str) -> bytes:
    r"""The bytes of a word of the command line in which `\t` stands for a tab."""
    return re.sub(r"\\([ntr0\\])", lambda match: _ESCAPES[match[1]].decode(), text).encode()


def _part(match: re.Match[str]) -> bytes | RecordFormatter:
    place, escape = match["place"], match["escape"]
    if place == "%":
        return b"%"
    if place is not None and place in _PLACES:
        return _PLACES[place]
    if escape is not None and escape in _ESCAPES:
        return _ESCAPES[escape]
    raise RecordError(f"unknown placeholder `{match[0]}`: use %v %k %p %o %T %h %% \\n \\t \\r \\0 \\\\")


def _text(value: bytes | int | None) -> bytes:
    """A part of a record on a line: what is not there is `null`, as Kafka's own tools say."""
    if value is None:
        return b"null"
    return value if isinstance(value, bytes) else str(value).encode()
