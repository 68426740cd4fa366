"""Escaping of values for Java properties and systemd environment files, and which values are secret."""

from __future__ import annotations

import re
from functools import lru_cache

from kcluster.config import property_tables, setting

HIDDEN = setting.HIDDEN

_WORD = r"(?:password|passwd|passphrase|secret|token|credential|api[._-]?key)"
_NAME = re.compile(_WORD, re.IGNORECASE)
_REFERENCE = re.compile(r"(\$\{[^}]*\})+")
_OPTION = re.compile(
    rf"""(-D\S*?(?:{_WORD}(?!path|file)(?:[._-]key|[a-z]*)|[._]pass)=)("[^"]*"|'[^']*'|\S+)""", re.IGNORECASE
)
_QUOTED = re.compile(r'[\\"]')
_SPECIAL = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def secret(key: str, value: str) -> bool:
    """Whether a property's value is secret; a reference to a config provider (`${file:...}`) is not."""
    return bool(value and property_tables.secret(key) and not _REFERENCE.fullmatch(value))


def masked(name: str, value: str) -> str:
    """An environment variable with its secrets hidden, also a password in a -D option."""
    return HIDDEN if _NAME.search(name) or property_tables.secret(name) else _OPTION.sub(rf"\g<1>{HIDDEN}", value)


@lru_cache(4096)  # the same few hundred keys for every node
def property_key(key: str) -> str:
    """A key of a Java properties file."""
    return re.sub(r"[ :=#!]", lambda found: "\\" + found[0], property_value(key))


def property_value(value: str) -> str:
    """A value of a Java properties file: Java drops leading blanks and reads Latin-1, so both are escaped."""
    spelled = value if value.isascii() and value.isprintable() and "\\" not in value else _escaped(value)
    return "\\" + spelled if spelled.startswith(" ") else spelled


def _escaped(value: str) -> str:
    units = value.encode("utf-16-be")
    letters = (chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
    return "".join(
        _SPECIAL.get(letter) or (letter if " " <= letter <= "~" else f"\\u{ord(letter):04x}") for letter in letters
    )


def environment_value(value: str) -> str:
    """A value between the double quotes of an environment file; systemd takes all but these two as they are."""
    return _QUOTED.sub(lambda found: "\\" + found[0], value)
