"""Findings about words as such: unknown ones, and those that must be said alike and are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kcluster.inventory import values
from kcluster.inventory.levels import Level
from kcluster.inventory.schema import VARIABLES, VariableType
from kcluster.model.finding import Finding, Location, some
from kcluster.model.suggestions import meant

_NOT_SHOWN = (VariableType.TOPICS, VariableType.TEXTS, VariableType.PROPERTIES, VariableType.SECRET)
"""Too long for a line, a password, or with passwords in them."""


def unknown_variable(variable: str, level: Level) -> Finding:
    """A variable that looks like a word and is none."""
    near = meant(variable, VARIABLES)
    hint = f"did you mean {near}?" if near else "see docs/variables.md for the words there are"
    return Finding(f"{variable} of {level.title} is not a word of kcluster", hint, Location(level.subject, variable))


def set_on_some_hosts(word: str, hosts: Sequence[str], silent: Sequence[str]) -> Finding:
    """A word for the whole cluster that hosts have and others of their kind do not, who would obey it all the same."""
    return Finding(
        f"{word} counts for the whole cluster, and is written for {some(hosts)}, not for {some(silent)}",
        "write it once, in group_vars/all",
        Location(hosts[0], word),
    )


def differing_values(word: str, said: Mapping[str, Any], hosts: Sequence[str]) -> Finding:
    """A word for the whole cluster of which hosts have different values."""
    shown = ", ".join(f"{values.shown(said[host])} on {host}" for host in hosts[:3])
    hidden = VARIABLES[word].type in _NOT_SHOWN
    return Finding(
        f"{word} must be the same for the whole cluster"
        + (f"; it differs on {', '.join(hosts[:3])}" if hidden else f": {shown}"),
        "write it once, in group_vars/all",
        Location(hosts[-1], word),
    )
