"""Findings about words as such: unknown ones, and those that must be said alike and are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kcluster.inventory import values
from kcluster.inventory.levels import Level
from kcluster.model.finding import Finding, Spot, some
from kcluster.model.names import meant
from kcluster.model.words import WORDS, Type

_NOT_SHOWN = (Type.TOPICS, Type.TEXTS, Type.PROPERTIES, Type.SECRET)
"""Too long for a line, a password, or with passwords in them."""


def unknown(variable: str, level: Level) -> Finding:
    """A variable that looks like a word and is none."""
    near = meant(variable, WORDS)
    hint = f"did you mean {near}?" if near else "see docs/variables.md for the words there are"
    return Finding(f"{variable} of {level.title} is not a word of kcluster", hint, Spot(level.subject, variable))


def said_by_some(word: str, hosts: Sequence[str], silent: Sequence[str]) -> Finding:
    """A word for the whole cluster that hosts have and others of their kind do not, who would obey it all the same."""
    return Finding(
        f"{word} counts for the whole cluster, and is written for {some(hosts)}, not for {some(silent)}",
        "write it once, in group_vars/all",
        Spot(hosts[0], word),
    )


def disagreement(word: str, said: Mapping[str, Any], hosts: Sequence[str]) -> Finding:
    """A word for the whole cluster of which hosts have different values."""
    shown = ", ".join(f"{values.shown(said[host])} on {host}" for host in hosts[:3])
    hidden = WORDS[word].type in _NOT_SHOWN
    return Finding(
        f"{word} must be the same for the whole cluster"
        + (f"; it differs on {', '.join(hosts[:3])}" if hidden else f": {shown}"),
        "write it once, in group_vars/all",
        Spot(hosts[-1], word),
    )
