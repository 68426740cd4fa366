"""From the bytes of an input to messages for a producer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kcluster.model.record import Header, RecordError, from_json


class Input(StrEnum):
    """What a line of the input is."""

    LINES = "lines"
    JSONL = "jsonl"


class Acks(StrEnum):
    """Who must have a record before it counts."""

    NONE = "0"
    LEADER = "1"
    ALL = "all"


class Compression(StrEnum):
    """The codecs of Kafka."""

    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


@dataclass(frozen=True)
class ProduceRequest:
    """How lines become records, and how they are sent."""

    input: Input = Input.LINES
    separator: bytes | None = None
    key: bytes | None = None
    null: bytes | None = None
    """A key or value that is exactly this becomes null."""
    headers: tuple[Header, ...] = ()
    partition: int | None = None
    acks: Acks = Acks.ALL
    compression: Compression = Compression.NONE

    @property
    def plain(self) -> bool:
        """Whether records have only keys and values; `produce_batch` drops everything else without a word."""
        return self.input is Input.LINES and self.partition is None and not self.headers


Message = dict[str, Any]
"""The arguments of `Producer.produce` for one record."""


def lines(chunks: Iterable[bytes], cut_off: Callable[[], bool] = lambda: False) -> Iterator[list[bytes]]:
    """The lines of the chunks, without line ends; a last line needs none, unless they were cut off in the middle."""
    pieces: list[bytes] = []
    for chunk in chunks:
        head, end, tail = chunk.rpartition(b"\n")
        if not end:
            pieces.append(chunk)
            continue
        yield b"".join((*pieces, head)).split(b"\n")
        pieces = [tail]
    last = b"".join(pieces)
    if last and not cut_off():
        yield [last]


def messages(
    sending: ProduceRequest, batches: Iterable[list[bytes]], check: Callable[[int], None]
) -> Iterator[list[Message]]:
    """The messages of the lines; those before a faulty line come out before its fault is raised."""
    read = _reader(sending, check)
    for lines in batches:
        found: list[Message] = []
        try:
            found.extend(map(read, lines))
        except RecordError:
            yield found
            raise
        yield found


def _reader(sending: ProduceRequest, check: Callable[[int], None]) -> Callable[[bytes], Message]:
    """The function that makes a message of a line, chosen once so that the common case does nothing but that."""
    fixed = _fixed(sending)
    if sending.input is Input.JSONL:
        return lambda line: {**_from_record(line, check), **fixed}
    if sending.separator is not None or sending.null is not None:
        return lambda line: {**_from_line(line, sending), **fixed}
    return (lambda line: {"value": line, **fixed}) if fixed else (lambda line: {"value": line})


def _fixed(sending: ProduceRequest) -> Message:
    """What the command line says about every record."""
    fixed: Message = {}
    if sending.key is not None:
        fixed["key"] = sending.key
    if sending.partition is not None:
        fixed["partition"] = sending.partition
    if sending.headers:
        fixed["headers"] = list(sending.headers)
    return fixed


def _from_line(line: bytes, sending: ProduceRequest) -> Message:
    if sending.separator is None:
        return {"value": _unless_null(line, sending)}
    key, found, value = line.partition(sending.separator)
    if not found:
        raise RecordError(f"it has no key separator {sending.separator.decode(errors='replace')!r}")
    return {"key": _unless_null(key, sending), "value": _unless_null(value, sending)}


def _unless_null(word: bytes, sending: ProduceRequest) -> bytes | None:
    return None if word == sending.null else word


def _from_record(line: bytes, check: Callable[[int], None]) -> Message:
    record = from_json(line)
    message: Message = {"value": record.value}
    if record.key is not None:
        message["key"] = record.key
    if record.partition is not None:
        check(record.partition)
        message["partition"] = record.partition
    if record.headers:
        message["headers"] = list(record.headers)
    if record.timestamp is not None:
        message["timestamp"] = record.timestamp
    return message
