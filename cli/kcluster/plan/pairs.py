"""Nodes as they are wanted, beside what was seen of them."""

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

_NOTHING = ObservedNode(ObservedUnit("missing"))


@dataclass(frozen=True)
class Pair:
    """A node as it is wanted, and as it was seen."""

    part: Part
    node: Node
    host: ObservedHost

    @property
    def seen(self) -> ObservedNode:
        """What was seen of the node."""
        return self.host.nodes.get(self.node.name, _NOTHING)

    @property
    def running(self) -> bool:
        """Whether it has a process."""
        return self.seen.unit.running

    @property
    def unit(self) -> str:
        """Its systemd unit."""
        return UNITS[self.node.kind]

    @cached_property
    def files(self) -> tuple[render.RenderedFile, ...]:
        """Its files as they shall be, secrets and all."""
        return render.files(self.part, self.node, reveal=True)

    @property
    def directories(self) -> Iterator[tuple[str, ObservedDirectory | None]]:
        """Its data directories, each with what was seen of it."""
        return ((path, self.seen.directories.get(path)) for path in data_dirs(self.node))

    @property
    def has_data(self) -> bool:
        """Whether a node has ever lived in its directories."""
        return any(found and found.meta for _, found in self.directories)

    @property
    def metadata(self) -> Ensemble | Quorum:
        """The keepers of the metadata of its cluster."""
        assert isinstance(self.part, Cluster)
        return self.part.metadata

    @property
    def release(self) -> str:
        """The release its process was started from; where nobody wrote it down, the one that counts on the host."""
        return self.seen.started_release or self.host.current


def pairs(part: Part, seen: Mapping[str, ObservedHost]) -> tuple[Pair, ...]:
    """Every node whose host was seen, in the order of the part."""
    return tuple(Pair(part, node, seen[node.host.name]) for node in part.nodes if node.host.name in seen)
