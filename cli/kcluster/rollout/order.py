"""The safe order: followers of the metadata quorum, its leader, brokers, the controller last of them, then Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kcluster.model.node import Kind, Node

N = TypeVar("N", bound=Node)

_KINDS = tuple(Kind)
_STAGES = ((Kind.ZOOKEEPER, Kind.CONTROLLER), (Kind.BROKER,), (Kind.SPARK_MASTER,), (Kind.SPARK_WORKER,))


def next_node(remaining: Sequence[N], dead: Callable[[Node], bool], leader: Callable[[Kind], str]) -> N:
    """The node of a roll whose turn it is: of the first kind that is left, one without a process, else no leader.

    `remaining` must not be empty. `dead` and `leader` ask the running cluster, and only about that kind.
    """
    kind = next(kind for kind in _KINDS if any(node.kind is kind for node in remaining))
    nodes = [node for node in remaining if node.kind is kind]
    if len(nodes) == 1:
        return nodes[0]
    for node in nodes:
        if dead(node):
            return node
    last = leader(kind)
    return next(node for node in nodes if node.name != last)


def start_stages(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes in groups that start together, in the order of a start; a stop takes them in reverse."""
    stages = [[node for node in nodes if node.kind in kinds] for kinds in _STAGES]
    return [stage for stage in stages if stage]
