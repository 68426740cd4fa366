"""What looks like one of our words or groups and is not: raw names that no rule about a cluster can see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcluster.inventory.levels import Data, Tree
from kcluster.inventory.schema import GROUPS, PREFIXES, VARIABLES
from kcluster.model.finding import Finding, Location, warning
from kcluster.model.suggestions import meant

_IDS = {"zookeeper_id": "zookeeper", "kafka_broker_id": "kafka_broker", "kafka_controller_id": "kafka_controller"}


def name_findings(data: Data) -> list[Finding]:
    """Names that were probably meant to be ours, and ids of hosts that are not in the group."""
    tree = Tree(data)
    return [*_variables(tree), *_groups(tree), *_ids(tree)]


def _variables(tree: Tree) -> Iterator[Finding]:
    """`kakfa_version`: a word whose beginning is misspelt."""
    first = {variable: level for level in reversed(list(tree.levels)) for variable in level.written}
    for variable, level in first.items():
        if not variable.startswith(PREFIXES) and (near := _meant(variable, VARIABLES)):
            yield Finding(
                f"{variable} of {level.title} is not a word of kcluster",
                f"did you mean {near}?",
                Location(level.subject, variable),
            )


def _groups(tree: Tree) -> Iterator[Finding]:
    """`kafka_brokers` beside `kafka_broker`: its hosts would be left out."""
    for group in tree.groups:
        near = _meant(group, GROUPS)
        if near and near in tree.groups and not _related(tree, group, near):
            yield warning(
                f"the group {group} is not one of kcluster's, so its hosts are left out",
                f"move its hosts to {near}, or rename it if it means something else",
                Location(group),
            )


def _ids(tree: Tree) -> Iterator[Finding]:
    """An id on a host that is not in the group it belongs to."""
    for member in tree.members.values():
        for word, group in _IDS.items():
            if word in member.levels[-1].written and group not in member.groups and tree.within(group):
                yield Finding(
                    f"host {member.name} has a {word} but is not in the group {group}",
                    f"add it to the group {group}, or remove the id",
                    Location(member.name, word),
                )


def _meant(name: str, names: Iterable[str]) -> str:
    """The one of our names that differs only in a slip of the fingers."""
    known = list(names)
    if name in known or "_" not in name:
        return ""
    near = meant(name, known)
    return near if abs(len(near) - len(name)) <= 2 else ""


def _related(tree: Tree, group: str, other: str) -> bool:
    """Whether all hosts of a group are in the other one as well."""
    return all(other in member.groups for member in tree.within(group))
