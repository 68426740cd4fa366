"""A cluster as it runs: what its processes were started with, whatever the inventory says meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from kcluster.model.cluster import Cluster
from kcluster.model.endpoints import addresses
from kcluster.model.ensemble import Ensemble
from kcluster.model.node import Node
from kcluster.model.quorum import Quorum

N = TypeVar("N", bound=Node)
T = TypeVar("T")


class ProcessState(StrEnum):
    """What was observed of the process of a node."""

    NONE = "none"
    """Its unit has no process: the node is dead."""
    STARTING = "starting"
    """It does not listen at its port yet: a broker may recover its logs for long."""
    LISTENING = "listening"
    UNKNOWN = "unknown"
    """Its host did not answer, or has no such unit."""


@dataclass(frozen=True)
class Recovery:
    """How far a process has come that does not listen yet."""

    text: str
    """For people: "4 of 12 partitions of /var/lib/kafka are loaded"; empty where its log does not say."""
    mark: str
    """Changes as long as it gets on."""


def _moves(here: Node, wanted: Node) -> list[str]:
    runs, shall = addresses(here), addresses(wanted)
    return [
        f"{label} runs at {runs.get(label, 'no address')}, the inventory has {shall.get(label, 'none')}".strip()
        for label in dict.fromkeys((*runs, *shall))
        if runs.get(label) != shall.get(label)
    ]


@dataclass(frozen=True)
class Running:
    """What was observed of the nodes of a cluster; of a node that was not observed, what the inventory says."""

    cluster: Cluster
    """Each node with the endpoints of its process; without a process, with those of the inventory."""
    processes: Mapping[str, ProcessState] = field(default_factory=dict)
    """By the name of the node."""
    recoveries: Mapping[str, Recovery] = field(default_factory=dict)
    """Of the nodes that do not listen yet, as far as they could be observed; by name."""
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The properties each process was started with, and those on the host of a node that only has data; by name."""

    releases: Mapping[str, str] = field(default_factory=dict)
    """The release each process was started from, "kafka_2.13-3.9.2", by name."""

    def process(self, node: Node) -> ProcessState:
        """What was observed of a node's process."""
        return self.processes.get(node.name, ProcessState.UNKNOWN)

    def dead(self, node: Node) -> bool:
        """Whether the node has no process; one that merely does not answer is not dead."""
        return self.process(node) is ProcessState.NONE

    def runs(self, node: Node) -> bool:
        """Whether the node is known to have a process."""
        return self.process(node) in (ProcessState.STARTING, ProcessState.LISTENING)

    def node(self, node: Node) -> Node:
        """The node with the endpoints of its process."""
        return next((each for each in self.cluster.every_node if each.name == node.name), node)

    def moved(self, wanted: Cluster) -> dict[str, str]:
        """The nodes that take connections elsewhere than wanted, by name, with both addresses of the first listener."""
        return {node.name: words for node in wanted.nodes for words in _moves(self.node(node), node)[:1]}

    def observed(
        self,
        processes: Mapping[str, ProcessState],
        started: Mapping[str, Node],
        recoveries: Mapping[str, Recovery] = {},
        settings: Mapping[str, Mapping[str, str]] = {},
        releases: Mapping[str, str] = {},
    ) -> Running:
        """The same with newer observations: processes, nodes as these were started, and what else belongs to each."""

        def newer(before: Mapping[str, T], now: Mapping[str, T]) -> Mapping[str, T]:
            return {**{name: found for name, found in before.items() if name not in processes}, **now}

        def newest(node: N) -> N:
            found = started.get(node.name)
            return found if isinstance(found, type(node)) else node

        metadata: Ensemble | Quorum = self.cluster.metadata
        if isinstance(metadata, Ensemble):
            metadata = replace(metadata, servers=tuple(map(newest, metadata.servers)))
        else:
            metadata = replace(metadata, controllers=tuple(map(newest, metadata.controllers)))
        cluster = replace(self.cluster, metadata=metadata, brokers=tuple(map(newest, self.cluster.brokers)))
        return Running(
            cluster,
            {**self.processes, **processes},
            newer(self.recoveries, recoveries),
            newer(self.settings, settings),
            newer(self.releases, releases),
        )
