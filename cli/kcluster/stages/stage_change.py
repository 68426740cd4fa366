"""One step of one kind of change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from kcluster.model.cluster import Cluster
from kcluster.model.node import Node

N = TypeVar("N", bound=Node)


def _as_wanted(cluster: Cluster) -> Cluster:
    return cluster


@dataclass(frozen=True)
class StageChange:
    """What a stage does for one kind of change."""

    title: str = ""
    """For people; empty where nothing of this kind changes."""
    edit: Callable[[Cluster], Cluster] = _as_wanted
    """Makes the stage out of the wanted cluster."""
    last: bool = True
    """Whether everything of this kind is as wanted afterwards."""


def held(node: N, properties: Mapping[str, str]) -> N:
    """The node with these properties for the time of a stage, whatever the inventory says."""
    return replace(node, staged={**node.staged, **properties}) if properties else node
