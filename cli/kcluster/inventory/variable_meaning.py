"""What an unknown variable was meant to be: another role's, a property of Kafka or ZooKeeper, or a misspelt name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kcluster.config.owned_properties import variable_for
from kcluster.inventory import examples
from kcluster.inventory.foreign_variables import FOREIGN, PROPERTY_PREFIXES, SAME_VALUE, Foreign
from kcluster.inventory.schema import VARIABLES, VariableType
from kcluster.model.finding import SNIPPET
from kcluster.model.release import Release
from kcluster.model.snippet import Assignment, Snippet

_EXAMPLES = {
    VariableType.PATHS: examples.paths,
    VariableType.LISTENERS: examples.listeners,
    VariableType.TEXTS: examples.texts,
}


@dataclass(frozen=True)
class Meaning:
    """What a variable means, and how it is written here."""

    fact: str
    resolution: str
    snippet: Snippet | None = None
    variable: str = ""
    """The variable of kcluster that means the same; empty when there is none."""


def meaning(name: str, value: Any) -> Meaning | None:
    """The meaning of a name that is not in the schema; None for a name of no role and no property."""
    if foreign := FOREIGN.get(name):
        return _of_role(foreign, value)
    prefixes = (prefix for prefix in PROPERTY_PREFIXES if name.startswith(prefix))
    return next((found for prefix in prefixes if (found := _of_property(name, prefix, value))), None)


def _of_role(foreign: Foreign, value: Any) -> Meaning:
    fact = f"it is a variable of {foreign.role}"
    if not foreign.variable:
        return Meaning(fact, f"use {foreign.instead}")
    return _renamed(f"{fact}, here {foreign.variable}", foreign.variable, value)


def _renamed(fact: str, variable: str, value: Any) -> Meaning:
    """The meaning of a name that has another one here; the value is written as a list where that is one."""
    example = _EXAMPLES.get(VARIABLES[variable].type)
    if example is None:
        return Meaning(fact, f"rename it to {variable}", variable=variable)
    right = example(value)
    how = (
        f"write {variable} as a list, such as {SNIPPET}" if right in examples.GENERAL else f"replace it with {SNIPPET}"
    )
    return Meaning(fact, how, Assignment(variable, right), variable)


def _of_property(name: str, prefix: str, value: Any) -> Meaning | None:
    """The meaning of a property's name after a prefix, with `_` for its dots or between its words."""
    from kcluster.config import property_tables  # lazily, as below: an accepted inventory needs no table

    zookeeper = "zookeeper" in prefix
    table = property_tables.zookeeper_table() if zookeeper else property_tables.table(Release().version)
    letters = _letters(name.removeprefix(prefix))
    key = next((key for key in table if _letters(key) == letters), "")
    if key in SAME_VALUE:
        variable = variable_for(key)
        return _renamed(f"the property {key} is {variable} here", variable, value)
    if owner := variable_for(key):
        return Meaning(f"the property {key} is derived from {owner}", "remove it")
    return _to_config(key, "zookeeper_config" if zookeeper else "kafka_config", value) if key else None


def _to_config(key: str, config: str, value: Any) -> Meaning:
    """A property that people set themselves, in the variable for properties."""
    from kcluster.config import property_tables

    fact = f"it is the property {key}, which goes into {config}"
    if property_tables.secret(key) or not isinstance(value, (str, int, float)):
        return Meaning(fact, f"move its value to {key} in {config}")
    return Meaning(fact, f"move it to {config}, as in {SNIPPET}", Assignment(config, {key: value}), config)


def _letters(name: str) -> str:
    return name.replace(".", "").replace("_", "").lower()
