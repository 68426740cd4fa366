"""From a parsed YAML file to a dataclass: all unknown keys and invalid values at once, with suggestions."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from datetime import date
from typing import Any

TYPE_NAMES = {str: "text", int: "an integer", float: "a number", bool: "true or false"}


class SettingsFindings(list[str]):
    """Findings in a file, a line each: "sink.path: must be text"."""

    def add(self, where: str, problem: str) -> None:
        """Add a finding at a key."""
        self.append(f"{where}: {problem}")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message: a similar known name, else all known names."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, 1, 0.6)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"


def build_settings(kind: Any, written: Any, where: str, findings: SettingsFindings) -> Any:
    """An instance of the dataclass from a mapping; None when findings were added."""
    if not isinstance(written, dict):
        findings.add(where or "the file", "must be a mapping of keys to values")
        return None
    before = len(findings)
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}
    for key in written:
        if key not in known:
            findings.add(f"{where}{key}", f"unknown key{nearest(str(key), known)}")
    values = {name: _value(hints[name], written[name], f"{where}{name}", findings) for name in known if name in written}
    for name, field in known.items():
        if name not in written and field.default is MISSING and field.default_factory is MISSING:
            findings.add(f"{where}{name}", "is missing")
    return kind(**values) if len(findings) == before else None


def _value(kind: Any, written: Any, where: str, findings: SettingsFindings) -> Any:
    """The value of one key, or a finding."""
    if is_dataclass(kind):
        return build_settings(kind, written, f"{where}.", findings)
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return _one_of(typing.get_args(kind), written, where, findings)
    if origin in (typing.Union, types.UnionType):  # `X | None`, the only union a file has
        inner = next(one for one in typing.get_args(kind) if one is not type(None))
        return None if written is None else _value(inner, written, where, findings)
    if origin is tuple:
        return _several(typing.get_args(kind)[0], written, where, findings)
    if origin is dict:
        return _mapping(typing.get_args(kind)[1], written, where, findings)
    return _plain(kind, written, where, findings)


def _one_of(allowed: tuple[str, ...], written: Any, where: str, findings: SettingsFindings) -> Any:
    if written not in allowed:
        findings.add(where, f"{written} is not a valid value{nearest(str(written), allowed)}")
    return written


def _several(kind: Any, written: Any, where: str, findings: SettingsFindings) -> Any:
    if not isinstance(written, list) or not written:
        findings.add(where, "must be a list with at least one entry")
        return ()
    return tuple(_value(kind, one, f"{where}[{number}]", findings) for number, one in enumerate(written))


def _mapping(kind: Any, written: Any, where: str, findings: SettingsFindings) -> Any:
    if not isinstance(written, dict):
        findings.add(where, "must be a mapping of keys to values")
        return {}
    return {str(key): _value(kind, one, f"{where}.{key}", findings) for key, one in written.items()}


def _plain(kind: Any, written: Any, where: str, findings: SettingsFindings) -> Any:
    written = _text(written) if kind is str else written
    fits = isinstance(written, kind) or (kind is float and isinstance(written, int))
    if not fits or (isinstance(written, bool) and kind is not bool):
        findings.add(where, f"must be {TYPE_NAMES[kind]}, not {written!r}")
    return written


def _text(written: Any) -> Any:
    """Numbers, booleans and dates of YAML as text, for keys that take text."""
    if isinstance(written, bool):
        return str(written).lower()
    if isinstance(written, int | float):
        return str(written)
    return written.isoformat() if isinstance(written, date) else written
