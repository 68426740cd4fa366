"""The settings of a file whatever its spelling, its difference to another one, and its text without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from functools import lru_cache
from types import MappingProxyType

from kcluster.config.escaping import HIDDEN, environment_value, masked, secret
from kcluster.render import Role

_JOINT = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*")
_PROPERTY = re.compile(r"(?P<before>\s*[#!]?\s*)(?P<key>(?:\\.|[^\s=:#!\\])+)(?P<sign>\s*[=:]?\s*)(?P<value>.*)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_VARIABLE = re.compile(r"(?P<before>\s*[#;]?\s*)(?P<key>\w+)=(?P<value>.*)")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}


@lru_cache(4096)  # the files of 300 hosts, each of which is asked for several times
def settings(role: Role, text: str) -> Mapping[str, str]:
    """The settings of a configuration or environment file, as the process reads them."""
    read = _properties if role is Role.CONFIG else _variables
    return MappingProxyType({key: value for comment, key, value in read(text) if not comment})


def lines(text: str) -> tuple[str, ...]:
    """The lines of any other file without comments and blanks, continued lines joined."""
    stripped = (line.strip() for line in _joined(text).splitlines())
    return tuple(line for line in stripped if line and line[0] not in "#;")


def secrets(role: Role, text: str) -> Mapping[str, str]:
    """Those of the settings that must not be shown."""
    if role not in (Role.CONFIG, Role.ENVIRONMENT):
        return {}
    hide = secret if role is Role.CONFIG else lambda name, value: masked(name, value) != value
    return {key: value for key, value in settings(role, text).items() if hide(key, value)}


def difference(role: Role, before: str, after: str) -> str:
    """A unified diff with the secrets of both sides hidden."""
    old, new = (hidden(role, text).splitlines() for text in (before, after))
    # The first two lines name the file, which is shown above the diff.
    return "\n".join(list(unified_diff(old, new, n=1, lineterm=""))[2:])


def hidden(role: Role, text: str) -> str:
    """A text with every secret as `********`, also one in a comment."""
    if role is Role.CONFIG:
        return "\n".join(_hidden_property(line) for line in _joined(text).splitlines())
    if role is Role.ENVIRONMENT:
        return "\n".join(map(_hidden_variable, text.splitlines()))
    return text


def _joined(text: str) -> str:
    """A text with its continued lines joined."""
    return _JOINT.sub(r"\1", text) if "\\\n" in text or "\\\r" in text else text


def _hidden_property(line: str) -> str:
    found = _PROPERTY.fullmatch(line)
    if found and secret(_unescaped(found["key"]), found["value"]):
        return f"{found['before']}{found['key']}{found['sign']}{HIDDEN}"
    return line


def _hidden_variable(line: str) -> str:
    found = _VARIABLE.fullmatch(line)
    if not found:
        return line
    shown = masked(found["key"], _unquoted(found["value"]))
    return f'{found["before"]}{found["key"]}="{environment_value(shown)}"'


def _properties(text: str) -> Iterator[tuple[bool, str, str]]:
    for line in _joined(text).splitlines():
        if found := _PROPERTY.fullmatch(line):
            comment = bool(found["before"].strip())
            yield comment, _unescaped(found["key"]), _unescaped(found["value"].rstrip())


def _variables(text: str) -> Iterator[tuple[bool, str, str]]:
    for line in text.splitlines():
        if found := _VARIABLE.fullmatch(line):
            yield bool(found["before"].strip()), found["key"], _unquoted(found["value"])


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _LETTERS.get(found[2], found[2]), text)
    # Letters beyond 16 bits are written as two halves.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value
