"""A listener: a named door of a broker, and the address under which others find it."""

from __future__ import annotations

from dataclasses import dataclass

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, kw_only=True)
class Listener:
    """One entry of `kafka_listeners`."""

    name: str
    port: int
    protocol: str = "PLAINTEXT"
    host: str = ""
    """The address to bind; empty means every address of the host."""
    advertised_host: str
    advertised_port: int

    @property
    def label(self) -> str:
        """The name in Kafka's own spelling."""
        return self.name.upper()

    @property
    def bind(self) -> str:
        """The entry in `listeners`."""
        return f"{self.label}://{self.host}:{self.port}"

    @property
    def advertised(self) -> str:
        """The entry in `advertised.listeners`."""
        return f"{self.label}://{self.address}"

    @property
    def address(self) -> str:
        """The address clients use."""
        return f"{self.advertised_host}:{self.advertised_port}"
