"""Findings about variables themselves: unknown names with a suggestion, and cluster-wide values that differ by host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kcluster.inventory import values
from kcluster.inventory.foreign_variables import FOREIGN_IDS
from kcluster.inventory.levels import Data, Level, Tree
from kcluster.inventory.schema import GROUPS, PREFIXES, VARIABLES, VariableType
from kcluster.inventory.templates import TemplateResult
from kcluster.inventory.variable_meaning import meaning
from kcluster.model.finding import WHO, Finding, Location, some, warning
from kcluster.model.suggestions import meant
from kcluster.results import few

_IDS = {"zookeeper_id": "zookeeper", "kafka_broker_id": "kafka_broker", "kafka_controller_id": "kafka_controller"}
_NOT_SHOWN = (VariableType.TOPICS, VariableType.TEXTS, VariableType.PROPERTIES, VariableType.SECRET)
"""Types whose values are too long for a line, or contain passwords."""


def unknown_variable(variable: str, level: Level) -> Finding:
    """The finding for a variable with a prefix of kcluster that is not in the schema."""
    if meant_as := meaning(variable, level.written[variable]):
        return Finding(
            f"unknown variable {variable} {level.where}: {meant_as.fact}",
            meant_as.resolution,
            Location(level.subject, variable),
            snippet=meant_as.snippet,
        )
    near = meant(variable, VARIABLES)
    return Finding(
        f"unknown variable {variable} {level.where}" + (f": did you mean {near}?" if near else ""),
        f"rename it to {near}" if near else "remove it; docs/variables.md lists all variables",
        Location(level.subject, variable),
    )


def unevaluated(template: TemplateResult, host: str, level: Level | None = None) -> Finding:
    """The finding for a template that has no value on a host."""
    where = level.where if level else f"of {WHO}"
    whom = f" for {WHO}" if level and level.subject != host else ""
    return Finding(
        f"{template.variable} {where}: {template.shown} has no value{whom}: {template.problem}",
        template.resolution,
        Location(level.subject if level else host, template.variable, template.key),
        who=host,
    )


def set_on_some_hosts(variable: str, hosts: Sequence[str], others: Sequence[str]) -> Finding:
    """The finding for a cluster-wide variable that some hosts of a group set and others do not."""
    return Finding(
        f"{variable} applies to the whole cluster, but is set for {some(hosts)} and not for {some(others)}",
        "set it once, in group_vars/all",
        Location(hosts[0], variable),
    )


def differing_values(variable: str, by_host: Mapping[str, Any], hosts: Sequence[str]) -> Finding:
    """The finding for a cluster-wide variable with different values on these hosts."""
    shown = few(f"{values.shown(by_host[host])} on {host}" for host in hosts)
    hidden = VARIABLES[variable].type in _NOT_SHOWN
    return Finding(
        f"{variable} must be the same for the whole cluster"
        + (f"; it differs on {few(hosts)}" if hidden else f": {shown}"),
        "set it once, in group_vars/all",
        Location(hosts[-1], variable),
    )


def name_findings(data: Data) -> list[Finding]:
    """Findings about names that no rule on a cluster can see: misspelt prefixes and groups, ids outside their group."""
    tree = Tree(data)
    return [*_misspelt_prefixes(tree), *_foreign(tree), *_unknown_groups(tree), *_ids_outside_group(tree)]


def _misspelt_prefixes(tree: Tree) -> Iterator[Finding]:
    """`kakfa_version`: no prefix of kcluster, but one or two letters from a variable."""
    first = {variable: level for level in reversed(list(tree.levels)) for variable in level.written}
    for variable, level in first.items():
        if not variable.startswith(PREFIXES) and _misspelt(variable, VARIABLES):
            yield unknown_variable(variable, level)


def _foreign(tree: Tree) -> Iterator[Finding]:
    """`amq_streams_broker_data_dir`: another role's, with a meaning that no variable of the inventory has yet."""
    written = {variable for level in tree.levels for variable in level.written}
    for level in tree.levels:
        for variable, value in level.written.items():
            known = variable.startswith(PREFIXES) or variable in FOREIGN_IDS
            if not known and (found := meaning(variable, value)) and found.variable not in written:
                message = f"{variable} {level.where} has no effect: {found.fact}"
                yield replace(
                    warning(message, found.resolution, Location(level.subject, variable)), snippet=found.snippet
                )


def _unknown_groups(tree: Tree) -> Iterator[Finding]:
    """`kafka_brokers` beside `kafka_broker`: its hosts would be left out."""
    for group in tree.groups:
        near = _misspelt(group, GROUPS)
        if near and near in tree.groups and not _related(tree, group, near):
            yield warning(
                f"unknown group {group}: kcluster ignores its hosts; did you mean {near}?",
                f"move its hosts to {near}, or rename the group if it has another purpose",
                Location(group),
            )


def _ids_outside_group(tree: Tree) -> Iterator[Finding]:
    """An id on a host that is not in the group it belongs to."""
    for member in tree.members.values():
        for variable, group in _IDS.items():
            if variable in member.levels[-1].written and group not in member.groups and tree.within(group):
                yield Finding(
                    f"host {member.name} has {variable} but is not in the group {group}",
                    f"add the host to the group {group}, or remove {variable}",
                    Location(member.name, variable),
                )


def _misspelt(name: str, known_names: Iterable[str]) -> str:
    """The known name that this one misspells; empty when it is known itself or differs by more than two letters."""
    known = list(known_names)
    if name in known or "_" not in name:
        return ""
    near = meant(name, known)
    return near if abs(len(near) - len(name)) <= 2 else ""


def _related(tree: Tree, group: str, other: str) -> bool:
    """Whether all hosts of a group are in the other one as well."""
    return all(other in member.groups for member in tree.within(group))
