"""Hosts as they are when a part was brought to them: what the next stage of a staged change starts from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kcluster.model.cluster import Cluster, Part
from kcluster.model.ensemble import Ensemble
from kcluster.model.observed import (
    ObservedDirectory,
    ObservedFile,
    ObservedHost,
    ObservedNode,
    ObservedUnit,
    Preparation,
)
from kcluster.model.quorum import Quorum
from kcluster.plan.changes import wanted_directory, wanted_file
from kcluster.plan.pairs import Pair, pairs

_PROCESS = ObservedUnit("active", enabled=True, pid=1)


def carried_out(part: Part, observed: Mapping[str, ObservedHost]) -> dict[str, ObservedHost]:
    """The observed hosts with everything of this part as it is wanted, and running."""
    found = dict(observed)
    for name, host in observed.items():
        nodes = {pair.node.name: _node(pair) for pair in pairs(part, {name: host})}
        if not nodes:
            continue
        release = part.release.directory
        found[name] = replace(
            host,
            preparation=Preparation(),
            releases=tuple(dict.fromkeys((*host.releases, release))),
            current=release,
            nodes={**host.nodes, **nodes},
        )
    return found


def _node(pair: Pair) -> ObservedNode:
    files = pair.files
    return replace(
        pair.observed,
        unit=_PROCESS,
        files={file.path: ObservedFile(file.text, wanted_file(pair.node, file)) for file in files},
        started_with={file.path: file.text for file in files},
        started_release=pair.part.release.directory,
        link=pair.part.release.directory,
        directories={path: _directory(pair, found) for path, found in pair.directories},
    )


def _directory(pair: Pair, found: ObservedDirectory | None) -> ObservedDirectory:
    seen = found or ObservedDirectory("", "", "", 0, 0, empty=False)
    metadata = pair.part.metadata if isinstance(pair.part, Cluster) else None
    identity = {"version": "1", "node.id": str(pair.node.id)}
    meta = {**identity, "cluster.id": metadata.cluster_id} if isinstance(metadata, Quorum) else {}
    myid = str(pair.node.id) if isinstance(metadata, Ensemble) and not seen.meta else ""
    return replace(
        seen,
        attributes=wanted_directory(pair.node),
        meta=seen.meta or meta,
        myid=seen.myid or myid,
        written=True,
    )
