"""What a replica answers when its records are fetched: whole batches, told apart by their offsets and checksums."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from kcluster.clients.wire.encoding import ByteReader
from kcluster.clients.wire.responses import refuse

_BATCH_HEADER = 61
"""Bytes of a batch before its records."""


@dataclass(frozen=True)
class RecordBatch:
    """One batch of records in the log of a replica."""

    first: int
    last: int
    """The offset of its last record."""
    checksum: int
    """Of its content, which is the same on every replica."""


@dataclass(frozen=True)
class FetchedPartition:
    """What one replica of a partition gave."""

    error: int
    """Kafka's error code, 0 for none."""
    batches: tuple[RecordBatch, ...]


def fetched(answer: ByteReader) -> dict[int, FetchedPartition]:
    """The partitions of the one topic that was asked for."""
    answer.int32()  # throttle time
    refuse(answer.int16(), "records")
    answer.int32()  # the session, which is none
    topics = answer.array(lambda: (answer.string(), answer.array(lambda: _fetched_partition(answer))))
    return {partition: fetched for _, partitions in topics for partition, fetched in partitions}


def _fetched_partition(answer: ByteReader) -> tuple[int, FetchedPartition]:
    partition, error = answer.int32(), answer.int16()
    answer.take(24)  # high watermark, last stable offset, first offset
    answer.array(lambda: answer.take(16))  # aborted transactions
    answer.int32()  # the replica to be preferred
    return partition, FetchedPartition(error, tuple(_batches(answer.take(max(answer.int32(), 0)))))


def _batches(data: bytes) -> Iterator[RecordBatch]:
    """The batches; an answer may end within one, which is left to the next question."""
    at = 0
    while at + _BATCH_HEADER <= len(data):
        first, length = struct.unpack_from(">qi", data, at)
        end = at + 12 + length
        if length < _BATCH_HEADER - 12 or end > len(data):
            return
        # The leader's epoch, between bytes 12 and 16, is no part of the content.
        yield RecordBatch(first, first + struct.unpack_from(">i", data, at + 23)[0], crc32(data[at + 16 : end]))
        at = end
