"""Reads the variables of all levels: values of their types, and findings where they have none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcluster.inventory import values, variable_findings
from kcluster.inventory.levels import HostLevels, Level, Tree
from kcluster.inventory.schema import GROUPS, PREFIXES, VARIABLES, VariableType
from kcluster.inventory.templates import TemplateResult, template_in
from kcluster.model.finding import WHO, Finding, Location
from kcluster.model.snippet import Assignment


def read(tree: Tree) -> list[Finding]:
    """Fill in the values of all levels, also as single hosts have them; the findings about them."""
    findings = [finding for level in tree.levels for finding in _level(level)]
    ours = (member for member in tree.members.values() if member.groups.intersection(GROUPS))
    return findings + [finding for member in ours for finding in _templates(member)]


def _level(level: Level) -> Iterator[Finding]:
    for variable, value in level.written.items():
        if variable in VARIABLES:
            if variable not in level.templates and not template_in(value):
                yield from _variable(level, variable)
        elif variable.startswith(PREFIXES):
            yield variable_findings.unknown_variable(variable, level)


def _variable(level: Level, variable: str) -> Iterator[Finding]:
    for fault in _parsed(level, variable):
        where = Location(level.subject, variable, fault.key)
        yield Finding(
            f"{variable} {level.where}: {fault.message}", fault.resolution, where, snippet=_snippet(variable, fault)
        )


def _parsed(level: Level, variable: str) -> values.Faults:
    """Parse a variable into the values of its level; what is wrong with it."""
    faults: values.Faults = []
    parsed = values.read(VARIABLES[variable].type, level.written[variable], faults)
    if parsed is not None:
        level.values[variable] = parsed
    return faults


def _templates(member: HostLevels) -> Iterator[Finding]:
    """The variables with templates, as the host has them."""
    for level in member.levels:
        for variable in level.templates.keys() & VARIABLES.keys():
            yield from _variable_of_host(level, variable, member.name)


def _variable_of_host(level: Level, variable: str, host: str) -> Iterator[Finding]:
    templates = level.templates[variable]
    _keep_secret(variable, templates)
    problems = [template for template in templates if template.problem]
    for template in problems:
        yield variable_findings.unevaluated(template, host, level)
    secret = next((template for template in templates if template.secret), None)
    for fault in () if problems else _parsed(level, variable):
        if secret:  # neither its value nor a better one made of it is shown
            fault = values.ValueFault("its value is not valid", f"see {variable} in docs/variables.md", secret.key)
        source = secret or next((each for each in templates if each.key == fault.key), templates[0])
        yield Finding(
            f"{variable} {level.where}: {fault.message} (from {source.shown} for {WHO})",
            fault.resolution,
            Location(level.subject, variable, fault.key),
            who=host,
            snippet=_snippet(variable, fault),
        )


def _snippet(variable: str, fault: values.ValueFault) -> Assignment | None:
    return Assignment(variable, fault.example) if fault.example else None


def _keep_secret(variable: str, templates: Iterable[TemplateResult]) -> None:
    """A property whose value comes from a vault is masked wherever it is shown."""
    if VARIABLES[variable].type is VariableType.PROPERTIES and (secret := [each for each in templates if each.secret]):
        from kcluster.config import property_tables  # lazily: most inventories have nothing vaulted

        property_tables.keep_secret(template.key for template in secret)
