"""Which brokers may stop together: a set grows as long as every partition can spare all of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kcluster.clients.kafka.topics import Partition
    from kcluster.rollout.gate_rules import ClusterView


class SpareReplicas:
    """How many in-sync replicas each partition can spare beside the brokers that were taken, as each view knows it.

    It answers as `gate_rules.isr_at_risk` does for the whole set, in time that grows with what a broker holds.
    """

    def __init__(
        self, views: Iterable[ClusterView], min_isr: Mapping[str, int | None], *, unsafe_partitions: bool
    ) -> None:
        self._spare: list[int] = []
        self._held: dict[int, list[tuple[int, bool]]] = {}
        for view in views:
            for name, topic in view.topics.items():
                for part in topic.partitions:
                    self._add(part, _spare(part, min_isr.get(name, 1), unsafe_partitions=unsafe_partitions))

    def take(self, brokers: Collection[int]) -> bool:
        """Count these as stopped too, if every partition spares them; whether it does."""
        lost: Counter[int] = Counter()
        for broker in brokers:
            for index, in_sync in self._held.get(broker, ()):
                lost[index] += in_sync
        if any(self._spare[index] < count for index, count in lost.items()):
            return False
        for index, count in lost.items():
            self._spare[index] -= count
        return True

    def _add(self, part: Partition, spare: int) -> None:
        for broker in part.replicas:
            self._held.setdefault(broker, []).append((len(self._spare), broker in part.isr))
        self._spare.append(spare)


def _spare(part: Partition, min_isr: int | None, *, unsafe_partitions: bool) -> int:
    """A partition that can never have enough is spared one replica where the user accepts that, and never several."""
    if min_isr is None:
        return -1  # it may not be read
    return len(part.isr) - (min(min_isr, len(part.replicas) - 1) if unsafe_partitions else min_isr)
