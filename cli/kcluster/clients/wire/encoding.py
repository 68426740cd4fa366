"""How Kafka's protocol writes numbers, texts and lists, in the old form and in the compact one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Writing. Compact lengths are one more than the length, as unsigned varints; 0 means null.

NO_TAGS = b"\x00"


def uvarint(number: int) -> bytes:
    """An unsigned number in groups of seven bits, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def string(text: str) -> bytes:
    """A text with its length in two bytes."""
    raw = text.encode()
    return struct.pack(">h", len(raw)) + raw


def compact_string(text: str) -> bytes:
    """A text with its compact length."""
    raw = text.encode()
    return uvarint(len(raw) + 1) + raw


def compact_array(*items: bytes) -> bytes:
    """Items with their compact number."""
    return uvarint(len(items) + 1) + b"".join(items)


class ByteReader:
    """Reads an answer from its beginning to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        part = self._data[self._at : self._at + count]
        if len(part) < count:
            raise ValueError("the answer ends too early")
        self._at += count
        return part

    def int16(self) -> int:
        """A number of two bytes."""
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        """A number of four bytes."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def int64(self) -> int:
        """A number of eight bytes."""
        return int.from_bytes(self.take(8), "big", signed=True)

    def uvarint(self) -> int:
        """A number in groups of seven bits."""
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def string(self) -> str:
        """A text; null is empty."""
        return self.take(max(self.int16(), 0)).decode()

    def compact_string(self) -> str:
        """A text with a compact length; null is empty."""
        return self.take(max(self.uvarint() - 1, 0)).decode()

    def array(self, item: Callable[[], T]) -> list[T]:
        """Items; null is empty."""
        return [item() for _ in range(self.int32())]

    def compact_array(self, item: Callable[[], T]) -> list[T]:
        """Items with a compact number; null is empty."""
        return [item() for _ in range(self.uvarint() - 1)]

    def tags(self) -> dict[int, bytes]:
        """The tagged fields by their numbers."""
        return {self.uvarint(): self.take(self.uvarint()) for _ in range(self.uvarint())}

    def skip_tags(self) -> None:
        """Pass over the tagged fields, which newer servers may add."""
        self.tags()
