"""The judge of a proof: what was acknowledged against what was seen, decided without any network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

NOT_OURS = -1
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
    """One record at its place: as it was acknowledged, or as it was seen."""

    sequence: int
    path: int
    """The way it was written through; within a partition each way keeps its order."""
    partition: int
    offset: int
    checksum: int
    """Of the whole value, so that an unchanged record has the same one."""


@dataclass(frozen=True)
class Loss:
    """One record for which the promise was broken."""

    flaw: Flaw
    partition: int
    offset: int
    sequence: int
    detail: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer of the judge, with what it counted."""

    acknowledged: int
    seen: int
    duplicates: int
    indeterminate: int
    """Records sent without an acknowledgement: they may appear or not, and are never called lost."""
    faults: tuple[Loss, ...]

    @property
    def holds(self) -> bool:
        """Whether everything acknowledged was kept; a proof without any record proves nothing."""
        return self.acknowledged > 0 and not self.faults

    def count(self, flaw: Flaw) -> int:
        """How many records have this flaw."""
        return sum(fault.flaw is flaw for fault in self.faults)


def encode(run: str, path: int, sequence: int, size: int = 100) -> bytes:
    """The value of a numbered record: run, path, sequence, padding, and the checksum of all that."""
    body = f"{run} {path} {sequence} ".encode().ljust(size - 8, b".")
    return body + f"{crc32(body):08x}".encode()


def decode(run: str, value: bytes, partition: int, offset: int) -> SmokeRecord:
    """What was read at a place; a value that is damaged or of another run has no sequence."""
    body, checksum = value[:-8], value[-8:]
    intact = checksum == f"{crc32(body):08x}".encode()
    words = body.split(b" ") if intact else []
    if len(words) != 4 or words[0] != run.encode():
        return SmokeRecord(NOT_OURS, NOT_OURS, partition, offset, crc32(value))
    return SmokeRecord(int(words[2]), int(words[1]), partition, offset, crc32(value))


def judge(
    acknowledged: Sequence[SmokeRecord], seen: Sequence[SmokeRecord], undelivered: Collection[int] = ()
) -> Verdict:
    """Decide whether every acknowledged record was seen, at its offset, unchanged, once and in order.

    `seen` is a full read in the order of arrival; `undelivered` are the sequences that were sent without an answer.
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
) -> tuple[Loss, ...]:
    """Decide whether a group went on exactly from its commits and read each partition once to its end.

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


def _not_resumed(partition: int, expected: range, read: Sequence[int], at: int) -> Loss:
    wanted = str(expected[at]) if at < len(expected) else "the end"
    got = str(read[at]) if at < len(read) else "nothing"
    detail = f"committed {expected.start}, end {expected.stop}: expected {wanted}, read {got}"
    return Loss(Flaw.NOT_RESUMED, partition, expected[at] if at < len(expected) else read[at], NOT_OURS, detail)


def _fault(flaw: Flaw, record: SmokeRecord, detail: str = "") -> Loss:
    return Loss(flaw, record.partition, record.offset, record.sequence, detail)


def _clashes(acknowledged: Sequence[SmokeRecord]) -> Iterator[Loss]:
    """A broker that acknowledges one offset for two records has forgotten the first."""
    owners: dict[tuple[int, int], int] = {}
    for record in acknowledged:
        owner = owners.setdefault((record.partition, record.offset), record.sequence)
        if owner != record.sequence:
            yield _fault(Flaw.CLASH, record, f"the offset was already given to sequence {owner}")


def _missing(acknowledged: Sequence[SmokeRecord], seen: Sequence[SmokeRecord]) -> Iterator[Loss]:
    """What is not at its place, partition by partition from the beginning: acknowledgements come in any order."""
    at = {(record.partition, record.offset): record for record in seen}
    places = {record.sequence: record for record in seen}
    for record in sorted(acknowledged, key=lambda one: (one.partition, one.offset)):
        found = at.get((record.partition, record.offset))
        if found is None or found.sequence != record.sequence or found.checksum != record.checksum:
            yield _misplaced(record, found, places.get(record.sequence))


def _misplaced(record: SmokeRecord, found: SmokeRecord | None, elsewhere: SmokeRecord | None) -> Loss:
    """Why an acknowledged record is not what was found at its place."""
    if found and found.sequence in (record.sequence, NOT_OURS):
        return _fault(Flaw.CHANGED, record, f"checksum {record.checksum:08x} became {found.checksum:08x}")
    if elsewhere:
        return _fault(Flaw.MOVED, record, f"seen in partition {elsewhere.partition} at offset {elsewhere.offset}")
    return _fault(Flaw.LOST, record, f"its offset holds sequence {found.sequence}" if found else "")


def _duplicates(seen: Sequence[SmokeRecord]) -> Iterator[Loss]:
    """One record at two places: an idempotent producer never does that. Reading a place twice is not meant."""
    places = {(record.partition, record.offset): record for record in seen}
    copies = Counter(record.sequence for record in places.values() if record.sequence != NOT_OURS)
    first: set[int] = set()
    for record in places.values():
        if copies[record.sequence] > 1 and record.sequence in first:
            yield _fault(Flaw.DUPLICATE, record, f"{copies[record.sequence]} copies")
        first.add(record.sequence)


def _reordered(seen: Sequence[SmokeRecord]) -> Iterator[Loss]:
    """Offsets go up in a partition, and so do the sequences of each path; a second copy counts as duplicate only."""
    offsets: dict[int, int] = {}
    newest: dict[tuple[int, int], int] = {}
    known: set[int] = set()
    for record in seen:
        stream = (record.partition, record.path)
        if record.offset <= offsets.get(record.partition, -1):
            yield _fault(Flaw.REORDERED, record, f"read after offset {offsets[record.partition]}")
        elif record.sequence not in known and record.sequence < newest.get(stream, NOT_OURS):
            yield _fault(Flaw.REORDERED, record, f"behind sequence {newest[stream]}, which was sent later")
        offsets[record.partition] = max(record.offset, offsets.get(record.partition, -1))
        newest[stream] = max(record.sequence, newest.get(stream, NOT_OURS))
        known.add(record.sequence)


def _foreign(
    acknowledged: Sequence[SmokeRecord], seen: Sequence[SmokeRecord], undelivered: Collection[int]
) -> Iterator[Loss]:
    """What nobody sent; a damaged record in the place of an acknowledged one is that one, changed."""
    sent = {record.sequence for record in acknowledged} | set(undelivered)
    places = {(record.partition, record.offset) for record in acknowledged}
    for record in seen:
        damaged = record.sequence == NOT_OURS and (record.partition, record.offset) in places
        if record.sequence not in sent and not damaged:
            yield _fault(Flaw.FOREIGN, record)
