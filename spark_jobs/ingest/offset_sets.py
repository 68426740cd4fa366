"""Sets of offsets as bitmaps, and the audit of one partition; without Spark and Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from spark_jobs.runtime.counting import counted

SPAN = 32768
"""Offsets per bucket: the size of Spark's bitmaps."""

FULL = (1 << SPAN) - 1
NAMED = 20
"""Ranges or offsets that a report lists for each partition."""

Item = TypeVar("Item")
Range = tuple[int, int]
"""First and last offset, inclusive."""


class OffsetSet:
    """A set of offsets of one partition, one bit for each."""

    def __init__(self) -> None:
        self.buckets: dict[int, int] = {}

    def add(self, offset: int) -> bool:
        """Add an offset; False when it was in the set already."""
        bucket, bit = divmod(offset, SPAN)
        before = self.buckets.get(bucket, 0)
        self.buckets[bucket] = before | 1 << bit
        return not before >> bit & 1

    def add_range(self, start: int, end: int) -> None:
        """Add the offsets from `start` to before `end`."""
        for bucket in range(start // SPAN, (end - 1) // SPAN + 1 if end > start else 0):
            low, high = max(start - bucket * SPAN, 0), min(end - bucket * SPAN, SPAN)
            self.buckets[bucket] = self.buckets.get(bucket, 0) | (1 << high) - (1 << low)

    def intersection(self, other: OffsetSet) -> OffsetSet:
        """The offsets that are in both sets."""
        return self._of_buckets((number, bits & other.buckets.get(number, 0)) for number, bits in self.buckets.items())

    def difference(self, other: OffsetSet) -> OffsetSet:
        """The offsets that are not in the other set."""
        return self._of_buckets((number, bits & ~other.buckets.get(number, 0)) for number, bits in self.buckets.items())

    def __len__(self) -> int:
        """The number of offsets."""
        return sum(bits.bit_count() for bits in self.buckets.values())

    def __contains__(self, offset: int) -> bool:
        """Whether an offset is in the set."""
        bucket, bit = divmod(offset, SPAN)
        return bool(self.buckets.get(bucket, 0) >> bit & 1)

    def below(self, end: int) -> OffsetSet:
        """The offsets below `end`."""
        limit = OffsetSet()
        limit.add_range(0, end)
        return self.intersection(limit)

    def ranges(self) -> Iterator[Range]:
        """The offsets as ranges, in order."""
        first = last = -2
        for start, end in self._pieces():
            if start == last + 1:
                last = end
                continue
            if first >= 0:
                yield first, last
            first, last = start, end
        if first >= 0:
            yield first, last

    def _pieces(self) -> Iterator[Range]:
        """Ranges within each bucket."""
        for number, bits in sorted(self.buckets.items()):
            position = number * SPAN
            while bits:
                gap = (bits & -bits).bit_length() - 1
                bits >>= gap
                run = (~bits & bits + 1).bit_length() - 1
                yield position + gap, position + gap + run - 1
                bits >>= run
                position += gap + run

    @staticmethod
    def _of_buckets(buckets: Iterable[tuple[int, int]]) -> OffsetSet:
        result = OffsetSet()
        result.buckets = {number: bits for number, bits in buckets if bits}
        return result


@dataclass
class PartitionAudit:
    """The audit of one partition: the offsets that were read, and where their records are now."""

    topic: str
    partition: int
    read: OffsetSet = field(default_factory=OffsetSet)
    rows: OffsetSet = field(default_factory=OffsetSet)
    dead: OffsetSet = field(default_factory=OffsetSet)
    repeated: set[int] = field(default_factory=set)
    """Offsets found twice among the rows or among the dead letters, the first of them."""
    deleted: OffsetSet = field(default_factory=OffsetSet)
    """Missing, and deleted from the topic by retention."""
    skipped: OffsetSet = field(default_factory=OffsetSet)
    """Missing, and the topic has no record there: compacted, or a transaction marker."""
    expired: OffsetSet = field(default_factory=OffsetSet)
    """Missing: dead letters deleted from their topic by retention."""

    def missing(self) -> OffsetSet:
        """Offsets that were read and are neither a row nor a dead letter."""
        return self.read.difference(self.rows).difference(self.dead)

    def lost(self) -> OffsetSet:
        """Missing offsets without an explanation."""
        return self.missing().difference(self.deleted).difference(self.skipped).difference(self.expired)

    def duplicates(self) -> list[int]:
        """Offsets found more than once, the first of them."""
        both = (
            offset for first, last in self.rows.intersection(self.dead).ranges() for offset in range(first, last + 1)
        )
        return sorted({*self.repeated, *first_named(both)})[:NAMED]

    def unexpected(self) -> OffsetSet:
        """Rows that are in no batch of the journal."""
        return self.rows.difference(self.read)

    def problems(self) -> Iterator[str]:
        """A sentence for each kind of problem in this partition."""
        partition = f"{self.topic} partition {self.partition}"
        if lost := self.lost():
            yield f"{partition}: {counted(len(lost), 'record')} missing, {describe_offsets(lost)}"
        if twice := self.duplicates():
            yield f"{partition}: duplicates at offsets {', '.join(map(str, twice))}"
        if unexpected := self.unexpected():
            yield f"{partition}: {counted(len(unexpected), 'row')} that no batch wrote, {describe_offsets(unexpected)}"

    def report(self) -> dict[str, object]:
        """The partition's entry in audit.json."""
        spans = list(self.read.ranges())
        return {
            "topic": self.topic,
            "partition": self.partition,
            "from": spans[0][0] if spans else 0,
            "to": spans[-1][1] + 1 if spans else 0,
            "read": len(self.read),
            "rows": len(self.rows),
            "dead": len(self.dead),
            "missing": first_named(self.lost().ranges()),
            "gone": first_named(self.deleted.ranges()),
            "skipped": len(self.skipped),
            "duplicates": self.duplicates(),
        }


def first_named(items: Iterable[Item]) -> list[Item]:
    """The first items, as many as a report lists."""
    return [item for item, _ in zip(items, range(NAMED), strict=False)]


def describe_offsets(offsets: OffsetSet) -> str:
    """Offsets for a message: "offsets 3-7, 9"."""
    ranges = [f"{first}-{last}" if last > first else str(first) for first, last in first_named(offsets.ranges())]
    return f"offsets {', '.join(ranges)}"
