"""Offsets as sets of bits: which of those that were read are there, there twice, or missing; no Spark, no Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

SPAN = 32768
"""Offsets per bucket, the size of Spark's bitmaps."""

FULL = (1 << SPAN) - 1
NAMED = 20
"""How many ranges or offsets a report names of each partition."""

Thing = TypeVar("Thing")
Range = tuple[int, int]
"""The first offset, and the last one itself."""


class OffsetSet:
    """A set of offsets of one partition, a bit for each."""

    def __init__(self) -> None:
        self.buckets: dict[int, int] = {}

    def add(self, offset: int) -> bool:
        """Put one in; False when it was there."""
        bucket, bit = divmod(offset, SPAN)
        before = self.buckets.get(bucket, 0)
        self.buckets[bucket] = before | 1 << bit
        return not before >> bit & 1

    def add_range(self, start: int, end: int) -> None:
        """Put in all from the first to the one before the last."""
        for bucket in range(start // SPAN, (end - 1) // SPAN + 1 if end > start else 0):
            low, high = max(start - bucket * SPAN, 0), min(end - bucket * SPAN, SPAN)
            self.buckets[bucket] = self.buckets.get(bucket, 0) | (1 << high) - (1 << low)

    def intersection(self, other: OffsetSet) -> OffsetSet:
        """Those that the other set has too."""
        return self._of_buckets((number, bits & other.buckets.get(number, 0)) for number, bits in self.buckets.items())

    def difference(self, other: OffsetSet) -> OffsetSet:
        """Those that the other set does not have."""
        return self._of_buckets((number, bits & ~other.buckets.get(number, 0)) for number, bits in self.buckets.items())

    def __len__(self) -> int:
        """How many there are."""
        return sum(bits.bit_count() for bits in self.buckets.values())

    def __contains__(self, offset: int) -> bool:
        """Whether an offset is in it."""
        bucket, bit = divmod(offset, SPAN)
        return bool(self.buckets.get(bucket, 0) >> bit & 1)

    def below(self, end: int) -> OffsetSet:
        """Those before an offset."""
        limit = OffsetSet()
        limit.add_range(0, end)
        return self.intersection(limit)

    def ranges(self) -> Iterator[Range]:
        """What is in it, in order, as ranges."""
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
        """Ranges that end at each bucket's end."""
        for number, bits in sorted(self.buckets.items()):
            place = number * SPAN
            while bits:
                gap = (bits & -bits).bit_length() - 1
                bits >>= gap
                run = (~bits & bits + 1).bit_length() - 1
                yield place + gap, place + gap + run - 1
                bits >>= run
                place += gap + run

    @staticmethod
    def _of_buckets(buckets: Iterable[tuple[int, int]]) -> OffsetSet:
        result = OffsetSet()
        result.buckets = {number: bits for number, bits in buckets if bits}
        return result


@dataclass
class PartitionAudit:
    """What is known of one partition: what was read of it, and where that is now."""

    topic: str
    partition: int
    read: OffsetSet = field(default_factory=OffsetSet)
    rows: OffsetSet = field(default_factory=OffsetSet)
    dead: OffsetSet = field(default_factory=OffsetSet)
    repeated: set[int] = field(default_factory=set)
    """Offsets found twice among the rows or among the dead letters, the first ones of them."""
    deleted: OffsetSet = field(default_factory=OffsetSet)
    """Missing, and deleted from the topic."""
    skipped: OffsetSet = field(default_factory=OffsetSet)
    """Missing, and the topic has no record there: compacted, or a transaction's mark."""
    expired: OffsetSet = field(default_factory=OffsetSet)
    """Missing, and dead letters that their topic no longer keeps."""

    def missing(self) -> OffsetSet:
        """Read, and neither a row nor a dead letter."""
        return self.read.difference(self.rows).difference(self.dead)

    def lost(self) -> OffsetSet:
        """Missing although the topic has them, and their dead letters should be there."""
        return self.missing().difference(self.deleted).difference(self.skipped).difference(self.expired)

    def duplicates(self) -> list[int]:
        """Offsets that are there more than once, the first ones of them."""
        both = (
            offset for first, last in self.rows.intersection(self.dead).ranges() for offset in range(first, last + 1)
        )
        return sorted({*self.repeated, *first_named(both)})[:NAMED]

    def unexpected(self) -> OffsetSet:
        """Rows of which no batch tells."""
        return self.rows.difference(self.read)

    def problems(self) -> Iterator[str]:
        """What does not balance."""
        here = f"{self.topic} partition {self.partition}"
        if lost := self.lost():
            yield f"{here}: {len(lost)} missing, {describe_offsets(lost)}"
        if twice := self.duplicates():
            yield f"{here}: twice: {', '.join(map(str, twice))}"
        if unexpected := self.unexpected():
            yield f"{here}: {len(unexpected)} rows of which no batch tells, {describe_offsets(unexpected)}"

    def report(self) -> dict[str, object]:
        """The line of this partition in the audit."""
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


def first_named(things: Iterable[Thing]) -> list[Thing]:
    """The first ones, as many as a report names."""
    return [thing for thing, _ in zip(things, range(NAMED), strict=False)]


def describe_offsets(offsets: OffsetSet) -> str:
    """Offsets as a person writes them: offsets 3-7, 9."""
    ranges = [f"{first}-{last}" if last > first else str(first) for first, last in first_named(offsets.ranges())]
    return f"offsets {', '.join(ranges)}"
