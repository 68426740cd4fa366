"""The levels of an inventory (all, groups, hosts) in Ansible's order of precedence, the strongest last."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kcluster.inventory import templates
from kcluster.inventory.templates import TemplateResult
from kcluster.model.finding import written_at

Data = Mapping[str, Any]
"""What `ansible-inventory --list --export` prints, with what became of its templates in `_meta`."""


@dataclass(frozen=True)
class Level:
    """One place where variables are written: group `all`, a group or a host."""

    source: str
    """"cluster", "group kafka_broker" or "host broker1"."""
    subject: str
    """The name of the group or host."""
    written: Mapping[str, Any]
    """The variables as they are written."""
    values: MutableMapping[str, Any] = field(default_factory=dict)
    """The variables of kcluster among them, parsed; filled in by the builder."""
    templates: Mapping[str, tuple[TemplateResult, ...]] = field(default_factory=dict)
    """Where this is the level as one host has it: its variables with templates, whose values are among the others."""

    def with_templates(self, found: Mapping[str, tuple[TemplateResult, ...]]) -> Level:
        """The level as one host has it; what is parsed of the others counts here too."""
        own = {name: templates.filled_in(self.written[name], each) for name, each in found.items()}
        return Level(self.source, self.subject, {**self.written, **own}, ChainMap({}, self.values), found)

    @property
    def where(self) -> str:
        """The level in a sentence: "in group all", "on host broker1"."""
        return written_at(self.source)


@dataclass(frozen=True)
class HostLevels:
    """A host of the inventory with its groups and its levels, the strongest last."""

    name: str
    groups: frozenset[str]
    levels: tuple[Level, ...]

    def value(self, variable: str, default: Any = None) -> Any:
        """The parsed value of a variable of kcluster from the strongest level that sets it; else the default."""
        return next((level.values[variable] for level in reversed(self.levels) if variable in level.values), default)

    def written(self, variable: str, default: Any = None) -> Any:
        """The value of any variable as it is written, from the strongest level that sets it; else the default."""
        return next((level.written[variable] for level in reversed(self.levels) if variable in level.written), default)

    def unevaluated(self, variable: str) -> TemplateResult | None:
        """The template in a variable that has no value; None where there is none, or the variable is not set."""
        level = next((level for level in reversed(self.levels) if variable in level.written), None)
        found = level.templates.get(variable, ()) if level else ()
        return next((template for template in found if template.problem), None)


@dataclass(frozen=True)
class Tree:
    """The groups of an inventory with their parents and hosts."""

    data: Data

    @cached_property
    def groups(self) -> dict[str, Level]:
        """Every group as a level."""
        return {name: self._level(name, group) for name, group in self.data.items() if name != "_meta"}

    @cached_property
    def members(self) -> dict[str, HostLevels]:
        """Every host."""
        direct: dict[str, set[str]] = {}
        for name in self.groups:
            for host in self.data[name].get("hosts", ()):
                direct.setdefault(host, set()).add(name)
        variables = self.data.get("_meta", {}).get("hostvars", {})
        return {host: self._member(host, frozenset(names), variables.get(host, {})) for host, names in direct.items()}

    @property
    def levels(self) -> Iterator[Level]:
        """Every level once."""
        yield from self.groups.values()
        yield from (member.levels[-1] for member in self.members.values())

    def within(self, group: str) -> list[HostLevels]:
        """The hosts of a group and of the groups below it."""
        return [member for member in self.members.values() if group in member.groups]

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        parents: dict[str, list[str]] = {}
        for name in self.groups:
            for child in self.data[name].get("children", ()):
                parents.setdefault(child, []).append(name)
        return parents

    @cached_property
    def _chains(self) -> dict[frozenset[str], tuple[Level, ...]]:
        return {}

    def _level(self, name: str, group: Mapping[str, Any]) -> Level:
        return Level("cluster" if name == "all" else f"group {name}", name, group.get("vars", {}))

    def _member(self, host: str, direct: frozenset[str], variables: Mapping[str, Any]) -> HostLevels:
        chain = self._chains.get(direct)
        if chain is None:
            chain = self._chains[direct] = self._chain(direct)
        own = Level(f"host {host}", host, variables)
        levels = (*((level.subject, level) for level in chain), ("", own))
        found = self.data["_meta"].get("templates", {}).get(host, {})
        return HostLevels(
            host,
            frozenset(group.subject for group in chain),
            tuple(
                level.with_templates(templates.of_variables(found[name])) if name in found else level
                for name, level in levels
            ),
        )

    def _chain(self, direct: frozenset[str]) -> tuple[Level, ...]:
        """The groups a host is in: deeper ones win, then higher priority, then the later name."""
        names = {"all"}.union(*({name, *self._above(name)} for name in direct))
        return tuple(self.groups[name] for name in sorted(names, key=self._rank) if name in self.groups)

    def _rank(self, name: str) -> tuple[int, int, str]:
        priority = str(self.data.get(name, {}).get("vars", {}).get("ansible_group_priority", 1))
        return self._depth(name), int(priority) if priority.isdecimal() else 1, name

    def _depth(self, name: str) -> int:
        return (
            0 if name == "all" else 1 + max((self._depth(parent) for parent in self._parents.get(name, ())), default=0)
        )

    def _above(self, name: str) -> set[str]:
        parents = self._parents.get(name, [])
        return set(parents).union(*(self._above(parent) for parent in parents))
