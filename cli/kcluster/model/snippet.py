"""What to write into an inventory, in the syntax of the place where it is to be written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

_PLAIN = re.compile(r"[A-Za-z_/][\w/.-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "none", "y", "n"})


class Syntax(StrEnum):
    """How a place of an inventory is written."""

    YAML = "yaml"
    INI_HOST = "ini host"
    """The line of a host in an INI file: words as a shell splits them, each value a Python literal."""
    INI_VARS = "ini vars"
    """A section `[group:vars]` of an INI file: each line a variable, its value a Python literal."""


class Snippet(Protocol):
    """Something that can be written in each syntax."""

    def written(self, syntax: Syntax) -> str:
        """The text as Ansible reads it in a place of this syntax."""


@dataclass(frozen=True)
class Assignment:
    """A variable with a value."""

    variable: str
    value: Any

    def written(self, syntax: Syntax) -> str:
        """`name: value`, or `name=value` in INI."""
        if syntax is Syntax.YAML:
            return f"`{self.variable}: {_yaml(self.value)}`"
        plain = isinstance(self.value, (bool, int)) or _plain(self.value)
        literal = str(self.value) if plain else json.dumps(self.value)
        return f"`{self.variable}={literal if plain or syntax is Syntax.INI_VARS else _quoted(literal)}`"


@dataclass(frozen=True)
class ChildGroup:
    """A group as the child of another, which then has its hosts."""

    parent: str
    child: str

    def written(self, syntax: Syntax) -> str:
        """A mapping, or the two lines of a section in INI."""
        if syntax is Syntax.YAML:
            return f"`{self.parent}: {{children: {{{self.child}: }}}}` beside it"
        return f"the two lines `[{self.parent}:children]` and `{self.child}` at the end of the file"


def _plain(value: Any) -> bool:
    """Whether a text is a text without quotes as well, in YAML and as a Python literal."""
    return isinstance(value, str) and bool(_PLAIN.fullmatch(value)) and value.lower() not in _WORDS


def _yaml(value: Any) -> str:
    """A value in YAML's flow style; texts with quotes where YAML would read something else."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml(str(key))}: {_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    return str(value) if _plain(value) else json.dumps(value)


def _quoted(literal: str) -> str:
    """A literal as one word of a shell."""
    import shlex  # lazily: an accepted inventory needs none of this

    return shlex.quote(literal)
