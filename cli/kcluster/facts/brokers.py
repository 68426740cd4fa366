"""The facts of brokers over the wire: the release of each, and the size of its logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.clients import wire
from kcluster.errors import KclusterError

if TYPE_CHECKING:
    from confluent_kafka.admin._metadata import ClusterMetadata


@dataclass(frozen=True)
class Answers:
    """The answers of one broker; None where there was none."""

    versions: wire.Versions | None
    replicas: Sequence[wire.Replica] | None

    @property
    def size(self) -> int | None:
        """The bytes of all its logs; None where they are unknown."""
        return None if self.replicas is None else sum(replica.size for replica in self.replicas)


def ask_all(metadata: ClusterMetadata, config: Mapping[str, str]) -> dict[int, Answers]:
    """The answers of every broker, all asked at the same time."""
    brokers = list(metadata.brokers.values())
    with ThreadPoolExecutor(max_workers=min(len(brokers), 32) or 1) as pool:
        answers = pool.map(lambda broker: _ask(str(broker.host), broker.port, config), brokers)
        return dict(zip(metadata.brokers, answers, strict=True))


def _ask(host: str, port: int, config: Mapping[str, str]) -> Answers:
    try:
        versions = wire.api_versions(host, port, config)
    except KclusterError:
        return Answers(None, None)
    try:
        return Answers(versions, wire.log_dirs(host, port, config))
    except KclusterError:
        return Answers(versions, None)


def sizes_of(
    leaders: Mapping[tuple[str, int], int | None], answers: Mapping[int, Answers]
) -> dict[tuple[str, int], int]:
    """The bytes of each partition on its leader; a partition whose size is unknown is missing."""
    by_replica = {
        (broker, replica.topic, replica.partition): replica.size
        for broker, answer in answers.items()
        for replica in answer.replicas or ()
    }
    sizes = {place: by_replica.get((leader, *place)) for place, leader in leaders.items() if leader is not None}
    return {place: size for place, size in sizes.items() if size is not None}


_PRODUCE, _FETCH, _LIST_OFFSETS, _OFFSET_COMMIT = 0, 1, 2, 8

_NEWEST = {_PRODUCE: 13, _FETCH: 18, _LIST_OFFSETS: 11, _OFFSET_COMMIT: 10}
"""The newest versions of requests that 4.2.0 supports; a broker that supports newer ones is newer."""


def release_of(versions: wire.Versions | None) -> str | None:
    """The release a broker runs, derived from the requests it supports; None where they are unknown."""
    if versions is None:
        return None
    oldest = {key: low for key, (low, _) in versions.ranges.items()}
    newest = {key: high for key, (_, high) in versions.ranges.items()}
    if any(newest.get(key, 0) > most for key, most in _NEWEST.items()):
        return "4.2+"
    signs = (
        ("4.2", newest.get(_LIST_OFFSETS, 0) >= 11),
        ("4.1", newest.get(_PRODUCE, 0) >= 13),
        ("4.0", oldest.get(_FETCH, 0) >= 4),
        ("3.9", newest.get(_FETCH, 0) >= 17),
    )
    return next((release for release, holds in signs if holds), "older than 3.9")
