"""The verdict of a smoke test: what was acknowledged against what was read, judged without any network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

UNKNOWN_SEQUENCE = -1
"""The sequence of a record that carries no readable number of this run."""


class Flaw(StrEnum):
    """What can be wrong with one record."""

    LOST = "lost"
    MOVED = "not at its offset"
    CHANGED = "changed"
    CLASH = "offset acknowledged twice"
    REORDERED = "out of order"
    DUPLICATE = "duplicate"
    FOREIGN = "never sent"
    NOT_RESUMED = "not resumed from the commit"


@dataclass(frozen=True, slots=True)
class SmokeRecord:
    """One record at its partition and offset: as it was acknowledged, or as it was read."""

    sequence: int
    path: int
    """The number of the path it was written through; within a partition each path keeps its order."""
    partition: int
    offset: int
    checksum: int
    """Of the whole value, so that an unchanged record has the same one."""


@dataclass(frozen=True)
class RecordFault:
    """One record that is not as it was acknowledged."""

    flaw: Flaw
    partition: int
    offset: int
    sequence: int
    detail: str = ""


@dataclass(frozen=True)
class Verdict:
    """What was counted, and every fault."""

    acknowledged: int
    seen: int
    duplicates: int
    indeterminate: int
    """Records sent without an acknowledgement: they may appear or not, and are never called lost."""
    faults: tuple[RecordFault, ...]

    @property
    def passed(self) -> bool:
        """Whether everything acknowledged was read as it was written; without any record it is not."""
        return self.acknowledged > 0 and not self.faults

    def count(self, flaw: Flaw) -> int:
        """How many records have this flaw."""
        return sum(fault.flaw is flaw for fault in self.faults)


def encode(run: str, path: int, sequence: int, size: int = 100) -> bytes:
    """The value of a numbered record: run, path, sequence, padding, and the checksum of all that."""
    body = f"{run} {path} {sequence} ".encode().ljust(size - 8, b".")
    return body + f"{crc32(body):08x}".encode()


def decode(run: str, value: bytes, partition: int, offset: int) -> SmokeRecord:
    """The record of a value that was read; one that is damaged or of another run has UNKNOWN_SEQUENCE."""
    body, checksum = value[:-8], value[-8:]
    intact = checksum == f"{crc32(body):08x}".encode()
    words = body.split(b" ") if intact else []
    if len(words) != 4 or words[0] != run.encode():
        return SmokeRecord(UNKNOWN_SEQUENCE, UNKNOWN_SEQUENCE, partition, offset, crc32(value))
    return SmokeRecord(int(words[2]), int(words[1]), partition, offset, crc32(value))


def judge(
    acknowledged: Sequence[SmokeRecord], seen: Sequence[SmokeRecord], undelivered: Collection[int] = ()
) -> Verdict:
    """Judge whether every acknowledged record was read, at its offset, unchanged, once and in order.

    `seen` is a full read in the order of arrival; `undelivered` are the sequences sent without an acknowledgement.
    """
    duplicates = tuple(_duplicates(seen))
    faults = (
        *_clashes(acknowledged),
        *_missing(acknowledged, seen),
        *duplicates,
        *_reordered(seen),
        *_foreign(acknowledged, seen, undelivered),
    )
    return Verdict(len(acknowledged), len(seen), len(duplicates), len(undelivered), faults)


def judge_resume(
    commits: Mapping[int, int], ends: Mapping[int, int], resumed: Sequence[tuple[int, int]]
) -> tuple[RecordFault, ...]:
    """Judge whether a group resumed exactly at its commits and read each partition once to its end.

    `resumed` are partition and offset in the order of arrival.
    """
    faults = []
    for partition, commit in commits.items():
        expected = range(commit, ends[partition])
        read = [offset for number, offset in resumed if number == partition]
        if read != list(expected):
            at = next(
                (index for index, pair in enumerate(zip(expected, read, strict=False)) if pair[0] != pair[1]), None
            )
            faults.append(_not_resumed(partition, expected, read, min(len(expected), len(read)) if at is None else at))
    return tuple(faults)


def _not_resumed(partition: int, expected: range, read: Sequence[int], at: int) -> RecordFault:
    due = str(expected[at]) if at < len(expected) else "the end"
    got = str(read[at]) if at < len(read) else "nothing"
    detail = f"committed {expected.start}, end {expected.stop}: expected {due}, read {got}"
    return RecordFault(
        Flaw.NOT_RESUMED, partition, expected[at] if at < len(expected) else read[at], UNKNOWN_SEQUENCE, detail
    )


def _fault(flaw: Flaw, record: SmokeRecord, detail: str = "") -> RecordFault:
    return RecordFault(flaw, record.partition, record.offset, record.sequence, detail)


def _clashes(acknowledged: Sequence[SmokeRecord]) -> Iterator[RecordFault]:
    """One offset acknowledged for two records: the first of them is lost."""
    sequences: dict[tuple[int, int], int] = {}
    for record in acknowledged:
        first = sequences.setdefault((record.partition, record.offset), record.sequence)
        if first != record.sequence:
            yield _fault(Flaw.CLASH, record, f"the offset was acknowledged before for sequence {first}")


def _missing(acknowledged: Sequence[SmokeRecord], seen: Sequence[SmokeRecord]) -> Iterator[RecordFault]:
    """What is not at its offset, partition by partition from the beginning: acknowledgements come in any order."""
    at = {(record.partition, record.offset): record for record in seen}
    places = {record.sequence: record for record in seen}
    for record in sorted(acknowledged, key=lambda one: (one.partition, one.offset)):
        stored = at.get((record.partition, record.offset))
        if stored is None or stored.sequence != record.sequence or stored.checksum != record.checksum:
            yield _misplaced(record, stored, places.get(record.sequence))


def _misplaced(record: SmokeRecord, stored: SmokeRecord | None, elsewhere: SmokeRecord | None) -> RecordFault:
    """Why an acknowledged record is not what was read at its offset."""
    if stored and stored.sequence in (record.sequence, UNKNOWN_SEQUENCE):
        return _fault(Flaw.CHANGED, record, f"checksum {record.checksum:08x} became {stored.checksum:08x}")
    if elsewhere:
        return _fault(Flaw.MOVED, record, f"read in partition {elsewhere.partition} at offset {elsewhere.offset}")
    return _fault(Flaw.LOST, record, f"sequence {stored.sequence} is at its offset" if stored else "")


def _duplicates(seen: Sequence[SmokeRecord]) -> Iterator[RecordFault]:
    """One record at two offsets, which an idempotent producer never writes; reading an offset twice is no duplicate."""
    places = {(record.partition, record.offset): record for record in seen}
    copies = Counter(record.sequence for record in places.values() if record.sequence != UNKNOWN_SEQUENCE)
    first: set[int] = set()
    for record in places.values():
        if copies[record.sequence] > 1 and record.sequence in first:
            yield _fault(Flaw.DUPLICATE, record, f"{copies[record.sequence]} copies")
        first.add(record.sequence)


def _reordered(seen: Sequence[SmokeRecord]) -> Iterator[RecordFault]:
    """Offsets go up in a partition, and so do the sequences of each path; a second copy counts as duplicate only."""
    offsets: dict[int, int] = {}
    newest: dict[tuple[int, int], int] = {}
    known: set[int] = set()
    for record in seen:
        stream = (record.partition, record.path)
        if record.offset <= offsets.get(record.partition, -1):
            yield _fault(Flaw.REORDERED, record, f"read after offset {offsets[record.partition]}")
        elif record.sequence not in known and record.sequence < newest.get(stream, UNKNOWN_SEQUENCE):
            yield _fault(Flaw.REORDERED, record, f"behind sequence {newest[stream]}, which was sent later")
        offsets[record.partition] = max(record.offset, offsets.get(record.partition, -1))
        newest[stream] = max(record.sequence, newest.get(stream, UNKNOWN_SEQUENCE))
        known.add(record.sequence)


def _foreign(
    acknowledged: Sequence[SmokeRecord], seen: Sequence[SmokeRecord], undelivered: Collection[int]
) -> Iterator[RecordFault]:
    """Records that were not sent; a damaged one at the offset of an acknowledged one is that one, changed."""
    sent = {record.sequence for record in acknowledged} | set(undelivered)
    places = {(record.partition, record.offset) for record in acknowledged}
    for record in seen:
        damaged = record.sequence == UNKNOWN_SEQUENCE and (record.partition, record.offset) in places
        if record.sequence not in sent and not damaged:
            yield _fault(Flaw.FOREIGN, record)
