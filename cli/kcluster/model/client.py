"""Client properties: security and others, as the user wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

PLAIN = "PLAINTEXT"


@dataclass(frozen=True)
class Client:
    """Client properties with the names of Java clients, and their origin."""

    written: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    """The file or the variable they come from, for errors."""

    @property
    def protocol(self) -> str:
        """Its security protocol, which selects the listener."""
        return protocol_of(self.written)

    def beside(self, folder: Path) -> Client:
        """The same properties with paths relative to this directory made absolute."""
        placed = {
            key: str(folder / value) if key.endswith(".location") and value else value
            for key, value in self.written.items()
        }
        return replace(self, written=placed)


def suited(properties: Mapping[str, str], protocol: str) -> dict[str, str]:
    """These properties for a listener with another protocol; unchanged where that needs a login which they have not."""
    if protocol == protocol_of(properties) or ("SASL" in protocol and "SASL" not in protocol_of(properties)):
        return dict(properties)
    useless = tuple(prefix for prefix in ("sasl.", "ssl.") if prefix[:-1].upper() not in protocol.split("_"))
    kept = {key: value for key, value in properties.items() if not key.startswith(useless)} if useless else properties
    return {**kept, "security.protocol": protocol}


def protocol_of(properties: Mapping[str, str]) -> str:
    """The security protocol of these client properties, PLAINTEXT by default."""
    return properties.get("security.protocol", PLAIN).upper()
