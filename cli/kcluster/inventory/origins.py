"""The file and line of each variable: reads the files of an inventory again, with line numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import yaml

from kcluster.errors import InventoryError
from kcluster.inventory import cache
from kcluster.inventory.levels import Data, Tree
from kcluster.model.finding import Location
from kcluster.model.snippet import Syntax

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_IGNORED = (".md", ".txt", ".rst", ".cfg", ".bak", ".orig", ".pyc")  # as Ansible does
_YAML = (".yml", ".yaml", ".json", "")

Place = tuple[str, str, str]
"""A subject ("all", a group, a host), a variable, and a key inside of it; the last two may be empty."""

Written = tuple[str, Syntax]
"""File and line of a place, and how it is written."""


class Origins:
    """The locations of an inventory's variables."""

    def __init__(self, path: Path, data: Data) -> None:
        self.path = path
        self.tree = Tree(data)

    def locate(self, spot: Location) -> str:
        """ "hosts.yml:12" for a spot: the exact key, else its variable, else its host or group; empty when unknown."""
        return self._found(spot)[0]

    def syntax(self, spot: Location) -> Syntax:
        """The syntax of the place that `locate` gives; where that is unknown, the one for variables of all hosts."""
        return self._found(spot)[1]

    def _found(self, spot: Location) -> Written:
        member = self.tree.members.get(spot.subject)
        subjects = [level.subject for level in reversed(member.levels)] if member else [spot.subject]
        if not member and spot.subject == "all":
            subjects += [name for name in self.tree.groups if name != "all"] + list(self.tree.members)
        for wanted in ((spot.variable, spot.key), (spot.variable, "")):
            for subject in subjects if wanted[0] else ():
                if found := self._index.get((subject, *wanted)):
                    return found
        return self._index.get((spot.subject, "", "")) or ("", self._syntax_of_all)

    @cached_property
    def _syntax_of_all(self) -> Syntax:
        in_ini = any(syntax is not Syntax.YAML for _, syntax in self._index.values())
        return Syntax.INI_VARS if in_ini else Syntax.YAML

    @cached_property
    def _index(self) -> dict[Place, Written]:
        """File and line of each place; of duplicates in one file the last, as in Ansible."""
        index: dict[Place, Written] = {}
        for path in cache.files(self.path):
            shown = _relative(path)
            for place, line, syntax in _places(path, self.path):
                index[place] = f"{shown}:{line}", syntax
        return index


def syntax_error(inventory: Path) -> InventoryError | None:
    """The first file of an inventory that is not valid YAML, with its line; None when that is not the reason."""
    for path in cache.files(inventory):
        if path.suffix not in _YAML[:2]:
            continue
        try:
            yaml.compose(path.read_bytes(), Loader=_LOADER)
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            what = getattr(problem, "problem", None) or "it is not text"
            return InventoryError(
                f"{_relative(path)}{f':{mark.line + 1}' if mark else ''} is not valid YAML: {what}",
                resolution="check indentation, quotes and brackets on that line and the one above",
            )
    return None


def _relative(path: Path) -> str:
    """A path relative to the current directory where it is below it."""
    absolute = os.path.abspath(path)
    here = os.getcwd() + os.sep
    return absolute.removeprefix(here)


def _places(path: Path, inventory: Path) -> Iterator[tuple[Place, int, Syntax]]:
    folders = path.relative_to(inventory if inventory.is_dir() else inventory.parent).parts
    subject = _subject(folders)
    if path.suffix in _YAML and (root := _compose(path)) is not None:
        yield from ((*found, Syntax.YAML) for found in (_variables(root, subject) if subject else _groups(root)))
    elif not subject and path.suffix not in _IGNORED:
        yield from _ini(path)


def _subject(parts: tuple[str, ...]) -> str:
    """The group or host of a file below group_vars/ or host_vars/; empty for a file with hosts."""
    for folder in ("group_vars", "host_vars"):
        if folder in parts[:-1]:
            first = parts[parts.index(folder) + 1]
            return first if len(parts) > parts.index(folder) + 2 else Path(first).stem
    return ""


def _compose(path: Path) -> yaml.Node | None:
    try:
        root = yaml.compose(path.read_bytes(), Loader=_LOADER)
    except yaml.YAMLError:  # an INI file without a suffix
        return None
    return root if isinstance(root, yaml.MappingNode) else None


def _pairs(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), value, key.start_mark.line + 1


def _groups(root: yaml.Node) -> Iterator[tuple[Place, int]]:
    """The hosts file: groups with hosts, vars and children, to any depth."""
    for group, body, line in _pairs(root):
        yield (group, "", ""), line
        for part, content, _ in _pairs(body):
            if part == "vars":
                yield from _variables(content, group)
            elif part == "children":
                yield from _groups(content)
            elif part == "hosts":
                yield from _hosts(content)


def _hosts(node: yaml.Node) -> Iterator[tuple[Place, int]]:
    for host, body, line in _pairs(node):
        yield (host, "", ""), line
        yield from _variables(body, host)


def _variables(node: yaml.Node, subject: str) -> Iterator[tuple[Place, int]]:
    for variable, value, line in _pairs(node):
        yield (subject, variable, ""), line
        yield from (((subject, variable, key), at) for key, at in _keys(value))


def _keys(node: yaml.Node) -> Iterator[tuple[str, int]]:
    """The keys of a dictionary; the names of the entries of a list, and the keys inside of each entry."""
    for key, _, line in _pairs(node):
        yield key, line
    for item in node.value if isinstance(node, yaml.SequenceNode) else ():
        for key, value, line in _pairs(item):
            yield key, line
            if key == "name" and isinstance(value, yaml.ScalarNode):
                yield value.value, line
            yield from ((inner, at) for inner, _, at in _pairs(value))


_SECTION = re.compile(r"\[([^:\]]+)(?::(\w+))?\]")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\s*=")


def _ini(path: Path) -> Iterator[tuple[Place, int, Syntax]]:
    """An INI inventory: [group], [group:vars], and hosts with their variables on one line."""
    section, kind = "ungrouped", ""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        words = line.split("#")[0].split()
        if match := _SECTION.match(line.strip()):
            section, kind = match[1], match[2] or ""
            yield (section, "", ""), number, Syntax.INI_VARS
        elif words and kind == "vars":
            yield (section, words[0].partition("=")[0], ""), number, Syntax.INI_VARS
        elif words and not kind:
            yield (words[0], "", ""), number, Syntax.INI_HOST
            yield from (((words[0], name, ""), number, Syntax.INI_HOST) for name in _ASSIGNMENT.findall(line))
