"""Each node of the inventory beside what was observed of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kcluster import render
from kcluster.config.file_paths import UNITS, data_dirs
from kcluster.model.cluster import Cluster, Part
from kcluster.model.ensemble import Ensemble
from kcluster.model.node import Node
from kcluster.model.observed import ObservedDirectory, ObservedHost, ObservedNode, ObservedUnit
from kcluster.model.quorum import Quorum

_NOT_INSTALLED = ObservedNode(ObservedUnit("missing"))


@dataclass(frozen=True)
class Pair:
    """A node of the inventory, and its observed host."""

    part: Part
    node: Node
    host: ObservedHost

    @property
    def observed(self) -> ObservedNode:
        """What was observed of the node."""
        return self.host.nodes.get(self.node.name, _NOT_INSTALLED)

    @property
    def running(self) -> bool:
        """Whether it has a process."""
        return self.observed.unit.running

    @property
    def unit(self) -> str:
        """Its systemd unit."""
        return UNITS[self.node.kind]

    @cached_property
    def files(self) -> tuple[render.RenderedFile, ...]:
        """Its rendered files, with secrets."""
        return render.files(self.part, self.node, reveal=True)

    @property
    def directories(self) -> Iterator[tuple[str, ObservedDirectory | None]]:
        """Its data directories, each with what was observed of it."""
        return ((path, self.observed.directories.get(path)) for path in data_dirs(self.node))

    @property
    def has_data(self) -> bool:
        """Whether one of its directories has the metadata of a node."""
        return any(directory and directory.meta for _, directory in self.directories)

    @property
    def metadata(self) -> Ensemble | Quorum:
        """The metadata quorum of its cluster."""
        assert isinstance(self.part, Cluster)
        return self.part.metadata

    @property
    def release(self) -> str:
        """The release its process was started from; where that is not recorded, the current one of the host."""
        return self.observed.started_release or self.host.current


def pairs(part: Part, observed: Mapping[str, ObservedHost]) -> tuple[Pair, ...]:
    """Every node whose host was observed, in the order of the part."""
    return tuple(Pair(part, node, observed[node.host.name]) for node in part.nodes if node.host.name in observed)
