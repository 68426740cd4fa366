"""What a client says to the brokers: security, and whatever else, as people wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

PLAIN = "PLAINTEXT"


@dataclass(frozen=True)
class Client:
    """Properties in the spelling of Java's clients, and where they are written."""

    written: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    """The file or the word of the inventory, for errors."""

    @property
    def protocol(self) -> str:
        """The protocol it speaks, which a listener must speak as well."""
        return protocol_of(self.written)

    def beside(self, folder: Path) -> Client:
        """The same with names of files that count from this folder."""
        placed = {
            key: str(folder / value) if key.endswith(".location") and value else value
            for key, value in self.written.items()
        }
        return replace(self, written=placed)


def protocol_of(properties: Mapping[str, str]) -> str:
    """The protocol that a client with these properties speaks."""
    return properties.get("security.protocol", PLAIN).upper()
