"""A line of JAAS: `org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_OPTION = r"""([^\s=;"']+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;"']+)"""
_LINE = re.compile(rf"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)((?:\s+{_OPTION})*)\s*;\s*", re.S)


@dataclass(frozen=True)
class Jaas:
    """A login module and its options."""

    module: str
    """Its class, with the package."""
    options: dict[str, str]

    @classmethod
    def of(cls, text: str) -> Self | None:
        """What a line says; None where it is not well-formed."""
        found = _LINE.fullmatch(text)
        if not found:
            return None
        return cls(found[1], {name: _unquoted(value) for name, value in re.findall(_OPTION, found[2], re.S)})


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.S) if value[0] in "\"'" else value
