"""The finding for a group without hosts: which group of the inventory has them, and how to map it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kcluster.inventory.levels import Tree
from kcluster.inventory.schema import GROUPS, VARIABLES
from kcluster.model.finding import SNIPPET, Finding, Location
from kcluster.model.snippet import ChildGroup
from kcluster.model.suggestions import meant

_NAMES = {
    "zookeeper": ("kafka_zookeeper", "zookeeper_server", "zookeeper_node", "zookeeper_cluster", "zk_server", "zk"),
    "kafka_controller": ("kraft_controller", "controller", "kafka_quorum"),
    "kafka_broker": ("broker", "kafka_node", "kafka_server", "kafka_host", "kafka_cluster", "kafka"),
}
"""Names that other roles and people use for the groups, without a plural's s and with `_` for `-`; specific first."""


def missing_group(tree: Tree, groups: Sequence[str], message: str) -> Finding:
    """The finding that none of the groups has hosts; the first is the one to fill, unless another name decides."""
    for group in groups:
        for other in _other_names(tree, group):
            return Finding(
                message,
                f"the group {other} has hosts: map it with {SNIPPET}",
                Location(other),
                snippet=ChildGroup(group, other),
            )
    near = meant(groups[0], (name for name in tree.groups if name not in ("all", "ungrouped", *VARIABLES)))
    known = near and near not in GROUPS
    hint = f"rename the group {near} to {groups[0]}" if known else f"put hosts into the group {groups[0]}"
    return Finding(message, hint, Location(near if near else "all"))


def _other_names(tree: Tree, group: str) -> Iterator[str]:
    """The groups with hosts that are called as this one elsewhere, and hold no other part of the cluster."""
    for name in (group, *_NAMES[group]):
        for other in tree.groups:
            called = other != group and _singular(other) == name
            if called and tree.within(other) and _only(tree, other, group):
                yield other


def _only(tree: Tree, name: str, group: str) -> bool:
    """Whether a group and those below it stand for no other group of kcluster."""
    return all(_part_of(below) in ("", group) for below in _with_below(tree, name))


def _part_of(name: str) -> str:
    """The group of kcluster that a name stands for; empty when it may be anything."""
    if name in GROUPS:
        return name
    return next((group for group, names in _NAMES.items() if _singular(name) in (group, *names)), "")


def _with_below(tree: Tree, group: str) -> Iterable[str]:
    children = tree.data.get(group, {}).get("children", ())
    return [group, *(name for child in children for name in _with_below(tree, child))]


def _singular(name: str) -> str:
    return name.lower().replace("-", "_").removesuffix("s")
